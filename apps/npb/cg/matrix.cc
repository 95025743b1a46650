#include "apps/npb/cg/matrix.h"

#include <algorithm>
#include <cmath>

#include "apps/npb/common/random.h"

namespace npb {
namespace {

constexpr double kCondition = 0.1;
constexpr double kDiagonal = 0.5;  // of every random vector

// The random vectors, one behind the other.
struct Vectors {
  std::vector<std::size_t> starts;  // by vector, and the end
  std::vector<std::int32_t> places;
  std::vector<double> values;
};

bool contains(apps::Rows rows, std::int32_t at) { return at >= rows.begin && at < rows.end; }

// Two numbers make an element: its value and its place. Places outside and those that the vector
// has already are drawn again, both numbers.
void add_vector(const CgClass& of, double places, std::int32_t diagonal, Random& random,
                Vectors& to) {
  const auto begin = static_cast<std::ptrdiff_t>(to.places.size());
  const auto end = to.places.size() + static_cast<std::size_t>(of.nonzeros);
  while (to.places.size() < end) {
    const double value = random.next();
    const auto place = static_cast<std::int32_t>(places * random.next());
    if (place >= of.n) continue;
    if (std::find(to.places.begin() + begin, to.places.end(), place) != to.places.end()) continue;
    to.places.push_back(place);
    to.values.push_back(value);
  }
  const auto found = std::find(to.places.begin() + begin, to.places.end(), diagonal);
  if (found == to.places.end()) {
    to.places.push_back(diagonal);
    to.values.push_back(kDiagonal);
  } else {
    to.values[static_cast<std::size_t>(found - to.places.begin())] = kDiagonal;
  }
  to.starts.push_back(to.places.size());
}

Vectors make_vectors(const CgClass& of) {
  double places = 2;  // a power of two, so that places come out the same everywhere
  while (places < of.n) places *= 2;
  Random random(Random::kSeed);
  random.next();  // NPB draws one number before
  Vectors vectors;
  const auto elements = static_cast<std::size_t>(of.n) * static_cast<std::size_t>(of.nonzeros + 1);
  vectors.places.reserve(elements);
  vectors.values.reserve(elements);
  vectors.starts.push_back(0);
  for (std::int32_t i = 0; i < of.n; ++i) add_vector(of, places, i, random, vectors);
  return vectors;
}

// For each row, the vectors that have an element in it, and that element times the vector's weight.
struct Uses {
  std::vector<std::size_t> starts;
  std::vector<std::int32_t> vectors;
  std::vector<double> factors;
};

Uses uses_of(const CgClass& of, const Vectors& all, apps::Rows rows) {
  Uses uses;
  uses.starts.assign(static_cast<std::size_t>(rows.end - rows.begin + 1), 0);
  const auto row_of = [rows](std::int32_t at) { return static_cast<std::size_t>(at - rows.begin); };
  for (const std::int32_t at : all.places) {
    if (contains(rows, at)) ++uses.starts[row_of(at) + 1];
  }
  for (std::size_t i = 1; i < uses.starts.size(); ++i) uses.starts[i] += uses.starts[i - 1];
  uses.vectors.resize(uses.starts.back());
  uses.factors.resize(uses.starts.back());
  std::vector<std::size_t> next = uses.starts;
  const double ratio = std::pow(kCondition, 1.0 / of.n);
  double weight = 1;
  for (std::int32_t i = 0; i < of.n; ++i, weight *= ratio) {
    for (std::size_t k = all.starts[static_cast<std::size_t>(i)];
         k < all.starts[static_cast<std::size_t>(i) + 1]; ++k) {
      if (!contains(rows, all.places[k])) continue;
      const std::size_t to = next[row_of(all.places[k])]++;
      uses.vectors[to] = i;
      uses.factors[to] = weight * all.values[k];
    }
  }
  return uses;
}

}  // namespace

Block::Block(const CgClass& of, apps::Rows rows, apps::Rows columns) {
  const Vectors vectors = make_vectors(of);
  const Uses uses = uses_of(of, vectors, rows);
  const auto width = static_cast<std::size_t>(columns.end - columns.begin);
  std::vector<double> sums(width);   // of the row under way
  std::vector<char> present(width);  // its elements
  std::vector<std::int32_t> places;
  starts_.push_back(0);
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    places.clear();
    const auto add = [&](std::int32_t column, double value) {
      const auto at = static_cast<std::size_t>(column - columns.begin);
      if (present[at] == 0) {
        present[at] = 1;
        sums[at] = 0;
        places.push_back(static_cast<std::int32_t>(at));
      }
      sums[at] += value;
    };
    const auto own = static_cast<std::size_t>(row - rows.begin);
    for (std::size_t k = uses.starts[own]; k < uses.starts[own + 1]; ++k) {
      const auto vector = static_cast<std::size_t>(uses.vectors[k]);
      for (std::size_t e = vectors.starts[vector]; e < vectors.starts[vector + 1]; ++e) {
        if (!contains(columns, vectors.places[e])) continue;
        add(vectors.places[e], vectors.values[e] * uses.factors[k]);
      }
    }
    const auto diagonal = static_cast<std::int32_t>(row);
    if (contains(columns, diagonal)) add(diagonal, kCondition - of.shift);
    std::sort(places.begin(), places.end());
    for (const std::int32_t at : places) {
      columns_.push_back(at);
      values_.push_back(sums[static_cast<std::size_t>(at)]);
      present[static_cast<std::size_t>(at)] = 0;
    }
    starts_.push_back(values_.size());
  }
}

void Block::multiply(const double* in, double* out) const {
  for (std::size_t row = 0; row + 1 < starts_.size(); ++row) {
    double sum = 0;
    for (std::size_t k = starts_[row]; k < starts_[row + 1]; ++k)
      sum += values_[k] * in[columns_[k]];
    out[row] = sum;
  }
}

}  // namespace npb
