// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/metadata.h"
#include "result/tree.h"

bool tree_equal(const json_t *a, const json_t *b)
{
	if (!a || !b)
		return a == b;
	if (json_is_string(a) && json_is_string(b))
		return metadata_equal_strings(json_string_value(a), json_string_value(b));
	if (json_is_integer(a) && json_is_integer(b))
		return json_integer_value(a) == json_integer_value(b);
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

char *tree_describe(const json_t *value)
{
	if (!value)
		return strdup("none");
	return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

int tree_make_string(const char *s, json_t **ret)
{
	_cleanup_free_ char *plain = NULL, *valid = NULL;

	plain = text_escape_control(s);
	if (!plain)
		return -ENOMEM;
	valid = text_escape_utf8(plain);
	if (!valid)
		return -ENOMEM;
	*ret = NULL;
	if (metadata_is_blank(valid))
		return 0;
	*ret = json_string(valid);
	return *ret ? 0 : -ENOMEM;
}

int tree_set_new(json_t *object, const char *key, json_t *value)
{
	_cleanup_free_ char *valid = NULL;

	if (!value)
		return -ENOMEM;
	valid = text_escape_utf8(key);
	if (!valid) {
		json_decref(value);
		return -ENOMEM;
	}
	return json_object_set_new(object, valid, value) < 0 ? -ENOMEM : 0;
}

int tree_set_string(json_t *object, const char *key, const char *s)
{
	json_t *value;
	int r;

	r = tree_make_string(s, &value);
	if (r < 0)
		return r;
	return value ? tree_set_new(object, key, value) : 0;
}

json_t *tree_make_merged(json_t *under, json_t *over)
{
	_cleanup_json_ json_t *merged = json_object();

	if (!merged || json_object_update(merged, under) < 0 ||
		(over && json_object_update(merged, over) < 0))
		return NULL;
	return TAKE_PTR(merged);
}

json_t *tree_make_part(json_t *metadata, const json_t *keys, bool has)
{
	_cleanup_json_ json_t *part = json_object();
	const char *key;
	json_t *value;

	if (!part)
		return NULL;
	json_object_foreach(metadata, key, value)
	{
		if ((json_object_get(keys, key) != NULL) == has &&
			json_object_set(part, key, value) < 0)
			return NULL;
	}
	return TAKE_PTR(part);
}

/* _bench.py: _CHECKED_METADATA. */
const char *const tree_agreed_keys[TREE_N_AGREED_KEYS] = {
	"aslr",
	"cpu_count",
	"cpu_model_name",
	"hostname",
	"inner_loops",
	"name",
	"platform",
	"python_executable",
	"python_implementation",
	"python_unicode",
	"python_version",
	"unit",
};

const char *tree_clock_name(enum window_clock clock)
{
	return clock == WINDOW_KERNEL ? "kernel" : "user";
}

json_t *tree_find_metadata(
	const json_t *root, const json_t *benchmark, const json_t *run, const char *key)
{
	const json_t *owners[] = { run, benchmark, root };

	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		json_t *value = json_object_get(json_object_get(owners[i], "metadata"), key);

		if (value)
			return value;
	}
	return NULL;
}

const char *tree_find_name(const json_t *root, const json_t *benchmark)
{
	const json_t *first = json_array_get(json_object_get(benchmark, "runs"), 0);

	return json_string_value(tree_find_metadata(root, benchmark, first, "name"));
}

json_t *tree_find_benchmark(const json_t *root, const char *name, size_t *ret_at)
{
	json_t *benchmark;
	size_t i;

	json_array_foreach(json_object_get(root, "benchmarks"), i, benchmark)
	{
		if (metadata_equal_strings(tree_find_name(root, benchmark), name)) {
			if (ret_at)
				*ret_at = i;
			return benchmark;
		}
	}
	return NULL;
}
