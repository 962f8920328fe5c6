// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/machine/cpuinfo.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

enum {
	CPUINFO_MAX_SIZE = 64 * 1024 * 1024,
};

int cpuinfo_read(char **ret_text)
{
	return file_read_all("/proc/cpuinfo", CPUINFO_MAX_SIZE, ret_text, NULL);
}

/* --- Lines of "key : value". */

struct field {
	const char *key;
	size_t key_length;
	const char *value;
	size_t value_length;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim(const char **text, size_t *length)
{
	while (*length > 0 && is_blank(**text)) {
		(*text)++;
		(*length)--;
	}
	while (*length > 0 && is_blank((*text)[*length - 1]))
		(*length)--;
}

static bool next_field(const char **cursor, struct field *ret)
{
	while (**cursor) {
		const char *at = *cursor;
		size_t length = strcspn(at, "\n");
		const char *colon = memchr(at, ':', length);

		*cursor = at + length + (at[length] == '\n');
		if (!colon)
			continue;
		*ret = (struct field){ .key = at,
			.key_length = (size_t)(colon - at),
			.value = colon + 1,
			.value_length = length - (size_t)(colon - at) - 1 };
		trim(&ret->key, &ret->key_length);
		trim(&ret->value, &ret->value_length);
		return true;
	}
	return false;
}

static bool has_key(const struct field *field, const char *key)
{
	return field->key_length == strlen(key) && memcmp(field->key, key, field->key_length) == 0;
}

/* Copies the value as a string; false when it is longer than any value that is looked for. */
static bool copy_value(const struct field *field, char *buf, size_t size)
{
	if (field->value_length >= size)
		return false;
	memcpy(buf, field->value, field->value_length);
	buf[field->value_length] = '\0';
	return true;
}

/* "processor : 7" begins a CPU, on s390 "cpu number : 7". (s390 also has "processor 7: ...", a
 * whole CPU on one line.) */
static bool begins_cpu(const struct field *field, int *ret_cpu)
{
	char text[16];
	unsigned cpu;

	if (!has_key(field, "processor") && !has_key(field, "cpu number"))
		return false;
	if (!copy_value(field, text, sizeof(text)) || parse_uint(text, 0, INT_MAX, &cpu) < 0)
		return false;
	*ret_cpu = (int)cpu;
	return true;
}

/* --- Models. */

enum key {
	KEY_MODEL_NAME,
	KEY_CPU,
	KEY_UARCH,
	KEY_IMPLEMENTER,
	KEY_PART,
	KEY_VARIANT,
	KEY_REVISION,
	KEY_VENDOR,
	KEY_MACHINE,
	N_KEYS,
};

static const struct {
	const char *name;
	enum key key;
} keys[] = {
	{ "model name", KEY_MODEL_NAME },
	{ "Model Name", KEY_MODEL_NAME },
	{ "cpu", KEY_CPU },
	{ "uarch", KEY_UARCH },
	{ "CPU implementer", KEY_IMPLEMENTER },
	{ "CPU part", KEY_PART },
	{ "CPU variant", KEY_VARIANT },
	{ "CPU revision", KEY_REVISION },
	{ "vendor_id", KEY_VENDOR },
	{ "machine", KEY_MACHINE },
};

/* arch/arm64/include/asm/cputype.h */
static const char *arm_core_name(const char *implementer, const char *part)
{
	static const struct {
		const char *part;
		const char *name;
	} cores[] = {
		{ "0xd03", "Cortex-A53" },
		{ "0xd04", "Cortex-A35" },
		{ "0xd05", "Cortex-A55" },
		{ "0xd07", "Cortex-A57" },
		{ "0xd08", "Cortex-A72" },
		{ "0xd09", "Cortex-A73" },
		{ "0xd0a", "Cortex-A75" },
		{ "0xd0b", "Cortex-A76" },
		{ "0xd0c", "Neoverse-N1" },
		{ "0xd0d", "Cortex-A77" },
		{ "0xd40", "Neoverse-V1" },
		{ "0xd41", "Cortex-A78" },
		{ "0xd44", "Cortex-X1" },
		{ "0xd46", "Cortex-A510" },
		{ "0xd47", "Cortex-A710" },
		{ "0xd48", "Cortex-X2" },
		{ "0xd49", "Neoverse-N2" },
		{ "0xd4d", "Cortex-A715" },
		{ "0xd4e", "Cortex-X3" },
		{ "0xd4f", "Neoverse-V2" },
		{ "0xd80", "Cortex-A520" },
		{ "0xd81", "Cortex-A720" },
		{ "0xd82", "Cortex-X4" },
		{ "0xd84", "Neoverse-V3" },
		{ "0xd85", "Cortex-X925" },
		{ "0xd87", "Cortex-A725" },
		{ "0xd8e", "Neoverse-N3" },
	};

	if (strcmp(implementer, "0x41") != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(cores); i++)
		if (strcmp(part, cores[i].part) == 0)
			return cores[i].name;
	return NULL;
}

/* The best description of the model that the values allow; "" when there is none. */
static char *format_model(char values[N_KEYS][256])
{
	_cleanup_text_ struct text model = { 0 };
	static const enum key names[] = { KEY_MODEL_NAME, KEY_CPU, KEY_UARCH };
	const char *core;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (values[names[i]][0])
			return strdup(values[names[i]]);
	if (!values[KEY_IMPLEMENTER][0] || !values[KEY_PART][0])
		return strdup(values[KEY_VENDOR]);
	core = arm_core_name(values[KEY_IMPLEMENTER], values[KEY_PART]);
	if (core)
		text_append(&model, core);
	else
		text_appendf(&model, "implementer %s part %s", values[KEY_IMPLEMENTER],
			values[KEY_PART]);
	/* The variant is a hexadecimal digit, the revision decimal. */
	if (text_starts_with(values[KEY_VARIANT], "0x") && values[KEY_REVISION][0])
		text_appendf(&model, " r%sp%s", values[KEY_VARIANT] + 2, values[KEY_REVISION]);
	return text_steal(&model);
}

/* s390: "processor 1: version = 00,  identification = 279F25,  machine = 2817" */
static void take_s390_machine(const struct field *field, char machine[256])
{
	static const char label[] = "machine = ";
	const char *at = memmem(field->value, field->value_length, label, strlen(label));
	struct field part;

	if (!at || field->key_length < 10 || memcmp(field->key, "processor ", 10) != 0)
		return;
	part = (struct field){ .value = at + strlen(label) };
	part.value_length = field->value_length - (size_t)(part.value - field->value);
	(void)copy_value(&part, machine, 256);
}

static bool has_word(const struct field *field, const char *word)
{
	size_t length = strlen(word);
	const char *at = field->value, *end = field->value + field->value_length;

	while ((at = memmem(at, (size_t)(end - at), word, length))) {
		if ((at == field->value || is_blank(at[-1])) &&
			(at + length == end || is_blank(at[length])))
			return true;
		at += length;
	}
	return false;
}

/* A value of `cpu` is preferred; until one is found, the value of any other CPU is taken. */
int cpuinfo_parse(const char *text, int cpu, struct cpuinfo *ret)
{
	char values[N_KEYS][256] = { "" };
	bool ours[N_KEYS] = { false };
	struct cpuinfo info = { 0 };
	struct field field;
	int current = -1;

	while (next_field(&text, &field)) {
		if (begins_cpu(&field, &current))
			continue;
		if (has_key(&field, "flags") && has_word(&field, "hypervisor"))
			info.hypervisor = true;
		if (!values[KEY_MACHINE][0])
			take_s390_machine(&field, values[KEY_MACHINE]);
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			enum key key = keys[i].key;

			if (!has_key(&field, keys[i].name))
				continue;
			if (!values[key][0] || (current == cpu && !ours[key]))
				ours[key] = copy_value(&field, values[key], sizeof(values[key])) &&
					current == cpu;
		}
	}
	info.model = format_model(values);
	info.machine = strdup(values[KEY_MACHINE]);
	if (!info.model || !info.machine) {
		cpuinfo_clear(&info);
		return -ENOMEM;
	}
	if (!*info.model) {
		free(info.model);
		info.model = NULL;
	}
	if (!*info.machine) {
		free(info.machine);
		info.machine = NULL;
	}
	*ret = info;
	return 0;
}

void cpuinfo_clear(struct cpuinfo *cpuinfo)
{
	free(cpuinfo->model);
	free(cpuinfo->machine);
	*cpuinfo = (struct cpuinfo){ 0 };
}

bool cpuinfo_next_mhz(const char **cursor, int *ret_cpu, double *ret_mhz)
{
	struct field field;
	int cpu = -1;

	/* Each CPU begins with its number, so the cursor may be anywhere between two CPUs. */
	while (next_field(cursor, &field)) {
		char text[32];
		size_t length;

		if (begins_cpu(&field, &cpu) || cpu < 0)
			continue;
		if (!has_key(&field, "cpu MHz") && !has_key(&field, "clock"))
			continue;
		if (!copy_value(&field, text, sizeof(text)))
			continue;
		length = strlen(text);
		if (length > 3 && strcmp(text + length - 3, "MHz") == 0)
			text[length - 3] = '\0';
		if (parse_double(text, 0, 1e6, ret_mhz) < 0)
			continue;
		*ret_cpu = cpu;
		return true;
	}
	return false;
}
