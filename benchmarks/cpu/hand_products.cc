// Kernel matrices times a vector as one writes them by hand: the rival that knows the machine.
//
// The points that are streamed lie by coordinate, so that all loads are of whole vectors; four rows
// take a vector of them at a time; each block's sums are added to the rows' sums, which keeps
// digits. Compiled for the machine that it runs on, and called through ctypes.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace {

#ifdef __AVX512F__
constexpr int kWidth = 16;
#else
constexpr int kWidth = 8;
#endif
constexpr int kDimensions = 3;
constexpr int kRows = 4;
// Streamed points of a block: they stay in the first cache.
constexpr int64_t kBlock = 2048;
// Rows that a thread takes at a time.
constexpr int64_t kTask = 64;

using Vector = float __attribute__((vector_size(kWidth * sizeof(float))));
using Integers = int32_t __attribute__((vector_size(kWidth * sizeof(float))));

Vector Splat(float value) { return Vector{} + value; }

Vector Fma(Vector a, Vector b, Vector c) { return __builtin_elementwise_fma(a, b, c); }

float Sum(Vector x) {
  float sum = 0;
  for (int i = 0; i < kWidth; ++i) sum += x[i];
  return sum;
}

// x times two to the power n, for n from -150 to 0.
Vector Scale(Vector x, Vector n) {
#ifdef __AVX512F__
  return _mm512_scalef_ps(x, n);
#else
  // In two steps, because the result may be subnormal and the power itself no number.
  const Integers power = __builtin_convertvector(n, Integers);
  const Integers half = power >> 1;
  const auto two_to = [](Integers k) { return std::bit_cast<Vector>((k + 127) << 23); };
  return x * two_to(half) * two_to(power - half);
#endif
}

// exp(factor * x) for x >= 0 and a factor of -1 or -1/2, within 0.9 ulp. The factor is a power of
// two, so it goes into the constants without rounding.
template <int kDivisor>
Vector ExpOfNegative(Vector x) {
  constexpr float kFactor = -1.0F / kDivisor;
  // Past this the result is zero.
  x = __builtin_elementwise_min(x, Splat(104.0F * kDivisor));
  const Vector n = __builtin_elementwise_roundeven(x * (kFactor * 1.44269504F));
  // ln 2 in two parts, of which the first has zeros at its end.
  Vector rest = Fma(n, Splat(0.693359375F / -kFactor), x);
  rest = Fma(n, Splat(-2.12194440e-4F / -kFactor), rest);
  // The remainder is `kFactor * rest`; coefficients of exp on [-ln 2 / 2, ln 2 / 2].
  constexpr std::array<float, 7> kCoefficients = {1.0F,
                                                  1.0F,
                                                  0.499999934469F,
                                                  0.166665206228F,
                                                  0.0416683882288F,
                                                  0.00836871771042F,
                                                  0.00138145898607F};
  constexpr auto kScaled = [=] {
    std::array<float, 7> scaled = kCoefficients;
    float power = 1;
    for (float& coefficient : scaled) {
      coefficient *= power;
      power *= kFactor;
    }
    return scaled;
  }();
  Vector result = Splat(kScaled[6]);
  for (int i = 5; i >= 0; --i) result = Fma(result, rest, Splat(kScaled[i]));
  return Scale(result, n);
}

struct Rbf {
  static Vector Distance(Vector sum, Vector difference) { return Fma(difference, difference, sum); }
  static Vector Value(Vector distance) { return ExpOfNegative<2>(distance); }
};

struct Laplacian {
  static Vector Distance(Vector sum, Vector difference) {
    return sum + __builtin_elementwise_abs(difference);
  }
  static Vector Value(Vector distance) { return ExpOfNegative<1>(distance); }
};

// The streamed points and the vector: by vectors of points, coordinate by coordinate, then the
// weights.
using Panel = std::array<Vector, kDimensions + 1>;

std::vector<Panel> Packed(const float* points, const float* weights, int64_t count) {
  // Points past the end have no weight.
  std::vector<Panel> panels((count + kWidth - 1) / kWidth);
  for (int64_t j = 0; j < count; ++j) {
    Panel& panel = panels[j / kWidth];
    for (int d = 0; d < kDimensions; ++d) panel[d][j % kWidth] = points[j * kDimensions + d];
    panel[kDimensions][j % kWidth] = weights[j];
  }
  return panels;
}

template <typename Kernel>
void AddBlock(const float* rows, const Panel* panels, int64_t count, Vector* results) {
  std::array<std::array<Vector, kDimensions>, kRows> points;
  for (int r = 0; r < kRows; ++r) {
    for (int d = 0; d < kDimensions; ++d) points[r][d] = Splat(rows[r * kDimensions + d]);
  }
  std::array<Vector, kRows> sums = {};
  for (int64_t j = 0; j < count; ++j) {
    const Panel& panel = panels[j];
    std::array<Vector, kRows> distances = {};
    for (int d = 0; d < kDimensions; ++d) {
      for (int r = 0; r < kRows; ++r) {
        distances[r] = Kernel::Distance(distances[r], points[r][d] - panel[d]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      sums[r] = Fma(Kernel::Value(distances[r]), panel[kDimensions], sums[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) results[r] += sums[r];
}

template <typename Kernel>
void AddRows(const float* rows, int64_t count, const std::vector<Panel>& panels, Vector* results) {
  const auto all = static_cast<int64_t>(panels.size());
  for (int64_t block = 0; block < all; block += kBlock / kWidth) {
    const int64_t length = std::min(kBlock / kWidth, all - block);
    for (int64_t i = 0; i < count; i += kRows) {
      AddBlock<Kernel>(&rows[i * kDimensions], &panels[block], length, &results[i]);
    }
  }
}

template <typename Kernel>
void Multiply(const float* x, const float* y, const float* v, float* results, int64_t row_count,
              int64_t point_count, int64_t thread_count) {
  const std::vector<Panel> panels = Packed(y, v, point_count);
  // Rows past the end are computed and dropped.
  const int64_t padded = (row_count + kTask - 1) / kTask * kTask;
  std::vector<float> rows(padded * kDimensions);
  std::copy_n(x, row_count * kDimensions, rows.begin());
  std::vector<Vector> sums(padded);
  const auto work = [&](int64_t thread) {
    for (int64_t i = thread * kTask; i < padded; i += thread_count * kTask) {
      AddRows<Kernel>(&rows[i * kDimensions], kTask, panels, &sums[i]);
    }
  };
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < thread_count; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  for (int64_t i = 0; i < row_count; ++i) results[i] = Sum(sums[i]);
}

}  // namespace

extern "C" void rbf(const float* x, const float* y, const float* v, float* results,
                    int64_t row_count, int64_t point_count, int64_t thread_count) {
  Multiply<Rbf>(x, y, v, results, row_count, point_count, thread_count);
}

extern "C" void laplacian(const float* x, const float* y, const float* v, float* results,
                          int64_t row_count, int64_t point_count, int64_t thread_count) {
  Multiply<Laplacian>(x, y, v, results, row_count, point_count, thread_count);
}
