// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace lanescope {

/// Equations of least squares: a matrix that is positive definite, and the right side.
class NormalEquations {
  public:
    explicit NormalEquations(size_t unknowns)
        : count_(unknowns), matrix_(unknowns * unknowns), right_(unknowns) {}

    double& at(size_t row, size_t column) { return matrix_[row * count_ + column]; }
    double& right(size_t row) { return right_[row]; }

    /// Decomposes the matrix, which is positive definite, into a triangle and its mirror.
    bool decompose() {
        for (size_t row = 0; row < count_; ++row)
            for (size_t column = 0; column <= row; ++column) {
                double sum = at(row, column);
                for (size_t k = 0; k < column; ++k) sum -= at(row, k) * at(column, k);
                if (row == column) {
                    if (!(sum > 0)) return false;
                    at(row, row) = std::sqrt(sum);
                } else {
                    at(row, column) = sum / at(column, column);
                }
            }
        return true;
    }
    /// What times the matrix is `values`; after `decompose`.
    std::vector<double> solved(std::vector<double> values) {
        for (size_t row = 0; row < count_; ++row) {
            for (size_t k = 0; k < row; ++k) values[row] -= at(row, k) * values[k];
            values[row] /= at(row, row);
        }
        for (size_t row = count_; row-- > 0;) {
            for (size_t k = row + 1; k < count_; ++k) values[row] -= at(k, row) * values[k];
            values[row] /= at(row, row);
        }
        return values;
    }
    const std::vector<double>& right() const { return right_; }

  private:
    size_t count_;
    std::vector<double> matrix_, right_;
};

}  // namespace lanescope
