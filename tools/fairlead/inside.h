// What a modelled run counted inside the machine, for people and as JSON.
#pragma once
#include <string>

#include "fairlead/fabric/model/figures.h"
#include "fairlead/run/launch/world.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

// {"queues":{"send buffers taken":{"mean","p99","most","in_use_percent", with a bound "capacity",
// "full_percent"}},"handlers":{"received":{"count","cycles","percent"}}, percent of the NIs' busy
// time,"host_percent":{"send"..}, of the ranks' time,"host_us_a_message","message_us":{"count",
// "mean","p99","most"},"busiest_link":{"name","percent"}, where links are counted}
Json inside_json(const run::RunReport& report, const fabric::model::Figures& figures);
std::string inside_text(const run::RunReport& report, const fabric::model::Figures& figures);

}  // namespace fairlead::tools
