// What tells the files that were mapped from later ones at the same paths.
#pragma once

#include <string>
#include <string_view>

namespace heapwise::bench {

/// Of the mapped files without a build id, as a JSON array: path, size and CRC-32. `maps` is
/// maps_text. A file that cannot be read is left out.
[[nodiscard]] std::string module_files_json(std::string_view maps);

} // namespace heapwise::bench
