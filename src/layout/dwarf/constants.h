/* SPDX-License-Identifier: MIT */
/* The numbers of the DWARF standard (versions 2 to 5) and GNU extensions that layouts need. */
#ifndef LAYOUT_DWARF_CONSTANTS_H
#define LAYOUT_DWARF_CONSTANTS_H

enum dwarf_tag {
    DW_TAG_array_type = 0x01,
    DW_TAG_class_type = 0x02,
    DW_TAG_enumeration_type = 0x04,
    DW_TAG_formal_parameter = 0x05,
    DW_TAG_member = 0x0d,
    DW_TAG_pointer_type = 0x0f,
    DW_TAG_reference_type = 0x10,
    DW_TAG_compile_unit = 0x11,
    DW_TAG_structure_type = 0x13,
    DW_TAG_subroutine_type = 0x15,
    DW_TAG_typedef = 0x16,
    DW_TAG_union_type = 0x17,
    DW_TAG_unspecified_parameters = 0x18,
    DW_TAG_inheritance = 0x1c,
    DW_TAG_ptr_to_member_type = 0x1f,
    DW_TAG_subrange_type = 0x21,
    DW_TAG_base_type = 0x24,
    DW_TAG_const_type = 0x26,
    DW_TAG_enumerator = 0x28,
    DW_TAG_packed_type = 0x2d,
    DW_TAG_subprogram = 0x2e,
    DW_TAG_variant_part = 0x33,
    DW_TAG_variable = 0x34,
    DW_TAG_volatile_type = 0x35,
    DW_TAG_restrict_type = 0x37,
    DW_TAG_interface_type = 0x38,
    DW_TAG_namespace = 0x39,
    DW_TAG_unspecified_type = 0x3b,
    DW_TAG_partial_unit = 0x3c,
    DW_TAG_imported_unit = 0x3d,
    DW_TAG_shared_type = 0x40,
    DW_TAG_type_unit = 0x41,
    DW_TAG_rvalue_reference_type = 0x42,
    DW_TAG_atomic_type = 0x47,
    DW_TAG_immutable_type = 0x4b
};

enum dwarf_at {
    DW_AT_sibling = 0x01,
    DW_AT_name = 0x03,
    DW_AT_byte_size = 0x0b,
    DW_AT_bit_offset = 0x0c,
    DW_AT_bit_size = 0x0d,
    DW_AT_stmt_list = 0x10,
    DW_AT_language = 0x13,
    DW_AT_import = 0x18,
    DW_AT_comp_dir = 0x1b,
    DW_AT_const_value = 0x1c,
    DW_AT_lower_bound = 0x22,
    DW_AT_producer = 0x25,
    DW_AT_upper_bound = 0x2f,
    DW_AT_count = 0x37,
    DW_AT_data_member_location = 0x38,
    DW_AT_decl_file = 0x3a,
    DW_AT_decl_line = 0x3b,
    DW_AT_declaration = 0x3c,
    DW_AT_encoding = 0x3e,
    DW_AT_external = 0x3f,
    DW_AT_specification = 0x47,
    DW_AT_type = 0x49,
    DW_AT_virtuality = 0x4c,
    DW_AT_signature = 0x69,
    DW_AT_data_bit_offset = 0x6b,
    DW_AT_str_offsets_base = 0x72,
    DW_AT_dwo_name = 0x76,
    DW_AT_alignment = 0x88,
    DW_AT_GNU_dwo_name = 0x2130
};

enum dwarf_form {
    DW_FORM_addr = 0x01,
    DW_FORM_block2 = 0x03,
    DW_FORM_block4 = 0x04,
    DW_FORM_data2 = 0x05,
    DW_FORM_data4 = 0x06,
    DW_FORM_data8 = 0x07,
    DW_FORM_string = 0x08,
    DW_FORM_block = 0x09,
    DW_FORM_block1 = 0x0a,
    DW_FORM_data1 = 0x0b,
    DW_FORM_flag = 0x0c,
    DW_FORM_sdata = 0x0d,
    DW_FORM_strp = 0x0e,
    DW_FORM_udata = 0x0f,
    DW_FORM_ref_addr = 0x10,
    DW_FORM_ref1 = 0x11,
    DW_FORM_ref2 = 0x12,
    DW_FORM_ref4 = 0x13,
    DW_FORM_ref8 = 0x14,
    DW_FORM_ref_udata = 0x15,
    DW_FORM_indirect = 0x16,
    DW_FORM_sec_offset = 0x17,
    DW_FORM_exprloc = 0x18,
    DW_FORM_flag_present = 0x19,
    DW_FORM_strx = 0x1a,
    DW_FORM_addrx = 0x1b,
    DW_FORM_ref_sup4 = 0x1c,
    DW_FORM_strp_sup = 0x1d,
    DW_FORM_data16 = 0x1e,
    DW_FORM_line_strp = 0x1f,
    DW_FORM_ref_sig8 = 0x20,
    DW_FORM_implicit_const = 0x21,
    DW_FORM_loclistx = 0x22,
    DW_FORM_rnglistx = 0x23,
    DW_FORM_ref_sup8 = 0x24,
    DW_FORM_strx1 = 0x25,
    DW_FORM_strx2 = 0x26,
    DW_FORM_strx3 = 0x27,
    DW_FORM_strx4 = 0x28,
    DW_FORM_addrx1 = 0x29,
    DW_FORM_addrx2 = 0x2a,
    DW_FORM_addrx3 = 0x2b,
    DW_FORM_addrx4 = 0x2c,
    DW_FORM_GNU_addr_index = 0x1f01,
    DW_FORM_GNU_str_index = 0x1f02,
    DW_FORM_GNU_ref_alt = 0x1f20,
    DW_FORM_GNU_strp_alt = 0x1f21
};

enum dwarf_ut {
    DW_UT_compile = 1,
    DW_UT_type = 2,
    DW_UT_partial = 3,
    DW_UT_skeleton = 4,
    DW_UT_split_compile = 5,
    DW_UT_split_type = 6
};

enum dwarf_op {
    DW_OP_constu = 0x10,
    DW_OP_plus_uconst = 0x23,
    DW_OP_lit0 = 0x30,
    DW_OP_lit31 = 0x4f
};

enum dwarf_ate {
    DW_ATE_boolean = 0x02,
    DW_ATE_complex_float = 0x03,
    DW_ATE_float = 0x04,
    DW_ATE_decimal_float = 0x0f
};

enum dwarf_lang {
    DW_LANG_C89 = 0x01,
    DW_LANG_C = 0x02,
    DW_LANG_C99 = 0x0c,
    DW_LANG_C11 = 0x1d,
    DW_LANG_C17 = 0x2c,
    DW_LANG_C23 = 0x3e,
    DW_LANG_Mips_Assembler = 0x8001
};

enum dwarf_lnct { DW_LNCT_path = 1, DW_LNCT_directory_index = 2 };

/* Columns of a package's index. */
enum dwarf_sect {
    DW_SECT_INFO = 1,
    DW_SECT_TYPES = 2,
    DW_SECT_ABBREV = 3,
    DW_SECT_LINE = 4,
    DW_SECT_STR_OFFSETS = 6
};

#endif
