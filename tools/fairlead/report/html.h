// Text in HTML, and the report's page.
#pragma once
#include <string>
#include <string_view>

namespace fairlead::tools {

// For an element's text and a quoted attribute.
std::string escaped(std::string_view text);

// A whole document: no script, no network, for screens from 1000 px on and for paper.
std::string page(const std::string& title, const std::string& body);

}  // namespace fairlead::tools
