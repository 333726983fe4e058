# SPDX-License-Identifier: Apache-2.0
"""Health of the model in use: causes of a slow torque error. Information, NOT safety."""
