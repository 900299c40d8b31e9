# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of protocol buffers, from the text of their schema and without its compiler."""

from __future__ import annotations

import re
from typing import Any

_SYNTAX = re.compile(r'syntax = "(\w+)";')
_PACKAGE = re.compile(r"package (\w+);")
_DEFINITION = re.compile(r"(message|enum) (\w+) \{(.*?)\}", re.DOTALL)
_FIELD = re.compile(r"(optional|repeated|) *([\w.]+) (\w+) = (\d+);")
_MEMBER = re.compile(r"(\w+) = (\d+);")
_ANY = "google.protobuf.Any"


def message_classes(schema: str) -> dict[str, Any]:
    """Returns the class of each message of a schema, by its name.

    The classes are in a pool of their own: another library in the same process may have made its own ones of
    the same package.

    Args:
        schema: text of a .proto file: syntax, package, enumerations and messages that are not nested, whose
            fields are numbers, texts, messages or enumerations of the schema, or ``google.protobuf.Any``.
    """
    from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    syntax, package = _SYNTAX.findall(schema)[0], _PACKAGE.findall(schema)[0]
    file = descriptor_pb2.FileDescriptorProto(name=f"ns3_env/{package}.proto", package=package, syntax=syntax)
    file.dependency.append(any_pb2.DESCRIPTOR.name)
    definitions = _DEFINITION.findall(schema)
    types = {"enum": kinds.TYPE_ENUM, "message": kinds.TYPE_MESSAGE}
    type_of = {name: types[kind] for kind, name, _ in definitions} | {_ANY: kinds.TYPE_MESSAGE}
    for kind, name, body in definitions:
        if kind == "enum":
            enum = file.enum_type.add(name=name)
            for member, number in _MEMBER.findall(body):
                enum.value.add(name=member, number=int(number))
            continue
        message = file.message_type.add(name=name)
        for label, of, field, number in _FIELD.findall(body):
            added = message.field.add(name=field, number=int(number))
            added.label = kinds.LABEL_REPEATED if label == "repeated" else kinds.LABEL_OPTIONAL
            if of in type_of:
                added.type = type_of[of]
                added.type_name = f".{of}" if of == _ANY else f".{package}.{of}"
            else:
                added.type = kinds.Type.Value(f"TYPE_{of.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    classes = message_factory.GetMessageClass
    return {
        name: classes(pool.FindMessageTypeByName(f"{package}.{name}"))
        for kind, name, _ in definitions
        if kind == "message"
    }
