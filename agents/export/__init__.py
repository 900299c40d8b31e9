# SPDX-License-Identifier: GPL-2.0-or-later
"""Export of policies to files that a simulator, ONNX Runtime or PyTorch runs by itself."""
