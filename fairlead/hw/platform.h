// A modelled machine as its platform file describes it, made of parts: host, bus, network
// interface, network. Every number has a source and a mark. Costs are times of hardware
// transactions, and cycle counts of named steps times a clock.
#pragma once
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/host_params.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/part.h"

namespace fairlead::hw {

struct Platform {
  std::string name;
  std::string description;
  std::string file;
  std::string changes;  // what was set otherwise than the file says; empty: nothing

  HostParams host;
  AnyPart bus;
  AnyPart ni;
  NetworkParams network;
};

// What a user sets otherwise than the platform's file says.
struct PlatformChanges {
  std::string topology;          // as the file's key; empty: the file's
  std::vector<std::string> set;  // "section.key=value", value in the file's unit
  std::string faster;            // see speed_up.h; resources of the machine's parts
  std::string steps = {};        // a cycle table beside the file; empty: the one it names
};

// Reads a platform file. Error: names file, line, key and reason; of a change: the valid keys.
Result<Platform> load_platform(const std::string& path, const PlatformChanges& changes = {});

// The kind of network interface that a platform's file names, without reading the rest of it.
Result<std::string> ni_kind_of(const std::string& path);

}  // namespace fairlead::hw
