#include "tools/fairlead/report/html.h"

#include <fmt/format.h>

namespace fairlead::tools {
namespace {

const char kStyle[] = R"(
body { font: 15px/1.45 sans-serif; color: #222; margin: 1.5rem auto; max-width: 1180px;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
h2, h3 { break-after: avoid; }
table { border-collapse: collapse; margin: .6rem 0; font-size: 13px; }
th, td { border-bottom: 1px solid #ddd; padding: .2rem .6rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #999; vertical-align: bottom; }
tr { break-inside: avoid; }
.cells { font-size: 12px; } .cells td { white-space: nowrap; vertical-align: top; }
.cells .text { text-align: left; } .cells td.text { white-space: normal; }
.cells td:first-child { white-space: nowrap; } .cells td.text:last-child { min-width: 15em; }
.whole { white-space: nowrap; } th.name, td.name { text-align: left; }
table:not(.packets) td:first-child { min-width: 8em; }
.packets { font-size: 11px; overflow-wrap: anywhere; } .packets td:first-child { max-width: 420px; }
.panels { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
figure { margin: 0; break-inside: avoid; }
figure svg { width: 100%; height: auto; display: block; }
figcaption { font-size: 13px; } figcaption b { display: block; }
pre { font-size: 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
.note, .off { color: #777; } .bad { color: #b00020; } .good { color: #1b7a3d; }
ul { padding-left: 1.2rem; font-size: 14px; } .wide { max-width: 900px; }
@page { size: A4; margin: 12mm; }
@media print { body { font-size: 12px; margin: 0; padding: 0; max-width: none; }
  table, .cells { font-size: 9px; } .cells td.text:last-child { min-width: 10em; }
  th, td { padding: .1rem .25rem; } .packets { font-size: 7px; } }
)";

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return safe;
}

std::string page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n"
      "<body>\n{}</body>\n</html>\n",
      escaped(title), kStyle, body);
}

}  // namespace fairlead::tools
