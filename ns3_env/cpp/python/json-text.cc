// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of whole numbers as JSON's text.
#include <array>
#include <charconv>
#include <pybind11/pybind11.h>
#include <string>

namespace py = pybind11;

void BindJsonText(py::module_& module);

namespace
{

/// Whole numbers as JSON.
py::str
JsonOf(const py::list& numbers)
{
    std::string text = "[";
    std::array<char, 24> digits{};
    for (const py::handle item : numbers)
    {
        const long long number = PyLong_CheckExact(item.ptr()) ? PyLong_AsLongLong(item.ptr()) : -1;
        if (number == -1 && (PyErr_Occurred() != nullptr || !PyLong_CheckExact(item.ptr())))
        {
            PyErr_Clear();
            throw py::type_error("whole numbers of 64 bits are needed");
        }
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
        text.append(digits.data(), end.ptr).push_back(',');
    }
    if (numbers.empty())
    {
        text.push_back(']');
    }
    else
    {
        text.back() = ']';
    }
    return py::str(text);
}

} // namespace

void
BindJsonText(py::module_& module)
{
    module.def("json_of",
               &JsonOf,
               py::arg("numbers"),
               "A list of whole numbers as JSON. Raises TypeError for others.");
}
