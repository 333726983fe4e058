# SPDX-License-Identifier: Apache-2.0
"""The estimate: the mean of candidates, weighted by what each predicts of data it has not seen."""
