#include "tools/fairlead/number_options.h"

namespace fairlead::tools {

CLI::Option* add_real_option(CLI::App& app, const std::string& name, double& value,
                             const std::string& help, const std::string& what,
                             Range<double> range) {
  return app.add_option_function<std::string>(
      name,
      [&value, name, what, range](const std::string& text) {
        value = value_or_throw(read_real(name, text, what, range));
      },
      help);
}

CLI::Option* add_sizes_option(CLI::App& app, const std::string& name,
                              std::vector<std::uint64_t>& values, const std::string& help,
                              Range<std::uint64_t> range) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [&values, name, range](const std::vector<std::string>& texts) {
            values.clear();
            for (const std::string& text : texts) {
              values.push_back(value_or_throw(read_bytes(name, text, range)));
            }
          },
          help)
      ->delimiter(',');
}

}  // namespace fairlead::tools
