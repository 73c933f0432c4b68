# SPDX-License-Identifier: Apache-2.0
"""ptxas_check on what ptxas of CUDA 13.0 has said."""

import shutil
import unittest

import ptxas_check

RECORDED = """[3/9] Building CUDA object impl/cuda/device/cuda/CMakeFiles/backgauge_cuda.dir/x.cu.o
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN9backgauge4cuda10run_kernelINS0_16ColumnSumsKernelIffLi3EEEEEvT_' for 'sm_90'
ptxas info    : Function properties for _ZN9backgauge4cuda10run_kernelINS0_16ColumnSumsKernelIffLi3EEEEEvT_
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compile time = 98.540 ms
ptxas info    : Compiling entry function '_ZN9backgauge4cuda10run_kernelINS0_10CellKernelINS0_62_GLOBAL__N__85e7304b_23_lstm_block_cell_grad_cu_a06f8389_112817OneStepIfEELi4ELb1EEEEEvT_' for 'sm_90'
ptxas info    : Function properties for _ZN9backgauge4cuda10run_kernelINS0_10CellKernelINS0_62_GLOBAL__N__85e7304b_23_lstm_block_cell_grad_cu_a06f8389_112817OneStepIfEELi4ELb1EEEEEvT_
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 72 registers, used 1 barriers, 6144 bytes smem
ptxas info    : Compile time = 110.908 ms
"""

LIMITS = """# a comment
80 CellKernel<OneStep<*>, 4, true> | two vectors
40 * | all else
"""


@unittest.skipUnless(shutil.which("c++filt"), "no c++filt on this machine")
class PtxasCheck(unittest.TestCase):
    def faults(self, log=RECORDED, limits=LIMITS):
        return ptxas_check.faults(ptxas_check.named(ptxas_check.parse_log(log)), ptxas_check.parse_limits(limits))

    def test_kernels_are_read(self):
        kernels = ptxas_check.named(ptxas_check.parse_log(RECORDED))
        self.assertEqual([(kernel.name, kernel.target, kernel.registers) for kernel in kernels],
                         [("ColumnSumsKernel<float, float, 3>", "sm_90", 32),
                          ("CellKernel<OneStep<float>, 4, true>", "sm_90", 72)])

    def test_what_keeps_to_its_row_passes(self):
        self.assertEqual(self.faults(), [])

    def test_a_register_too_many(self):
        [fault] = self.faults(RECORDED.replace("Used 32", "Used 41"))
        self.assertIn("41 registers, more than 40 (all else)", fault)

    def test_spills(self):
        [fault] = self.faults(RECORDED.replace("0 bytes spill stores, 0 bytes spill loads",
                                               "8 bytes spill stores, 16 bytes spill loads", 1))
        self.assertIn("ColumnSumsKernel<float, float, 3> for sm_90: spills 8 bytes, loads 16 back", fault)

    def test_stack(self):
        [fault] = self.faults(RECORDED.replace("0 bytes stack frame", "24 bytes stack frame", 1))
        self.assertIn("24 bytes of stack", fault)

    def test_a_kernel_without_a_row(self):
        [fault] = self.faults(limits="80 CellKernel<OneStep<*>, 4, true> | two vectors\n")
        self.assertIn("no row", fault)

    def test_a_log_without_kernels_or_without_figures(self):
        self.assertIn("no kernel", self.faults("ninja: no work to do.\n")[0])
        self.assertIn("does not say", self.faults(RECORDED.replace("Used 32 registers", ""))[0])

    def test_a_row_that_is_none(self):
        with self.assertRaises(ValueError):
            ptxas_check.parse_limits("64 Kernel without a reason\n")

    def test_the_table_in_use_can_be_read(self):
        self.assertTrue(ptxas_check.parse_limits(ptxas_check.LIMITS.read_text()))


if __name__ == "__main__":
    unittest.main()
