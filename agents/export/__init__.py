# SPDX-License-Identifier: GPL-2.0-or-later
"""How does a policy leave Python? As a file that a simulator, ONNX Runtime or PyTorch plays by itself."""
