// The table of papers: a new one is a row here, its studies, its values and its platform files.
#include "tools/fairlead/reproduce/dsm_studies.h"
#include "tools/fairlead/reproduce/firelink_studies.h"
#include "tools/fairlead/reproduce/lci_studies.h"
#include "tools/fairlead/reproduce/paper.h"
#include "tools/fairlead/reproduce/qsnet_studies.h"
#include "tools/fairlead/reproduce/splitc_studies.h"

namespace fairlead::tools {

std::span<const Paper> papers() {
  static constexpr Paper kPapers[] = {
      {"lci", "Verstoep et al., ACM TOCS 2004", "lci-paper.toml", kLciPlatforms,
       &lci_paper_studies},
      {"firelink", "Sistare and Jackson, SC 2002", "firelink-paper.toml", kFirelinkPlatforms,
       &firelink_paper_studies},
      {"qsnet", "Petrini et al., Quadrics collectives", "qsnet-paper.toml", kQsnetPlatforms,
       &qsnet_paper_studies},
      {"dsm", "Noronha and Panda, page-based shared memory on InfiniBand", "dsm-paper.toml",
       kDsmPlatforms, &dsm_paper_studies},
      {"splitc", "Begel, Buonadonna and Gay, Split-C", "splitc-paper.toml", kSplitcPlatforms,
       &splitc_paper_studies}};
  return kPapers;
}

}  // namespace fairlead::tools
