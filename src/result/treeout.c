// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/macro.h"
#include "result/emit.h"
#include "result/tree.h"

static int out_bytes(const char *buffer, size_t size, void *data)
{
	struct out *out = data;

	if (out->error < 0)
		return -1;
	errno = 0;
	if (emit_text(out->stream, buffer, size))
		return 0;
	out->error = errno > 0 ? -errno : -EIO;
	return -1;
}

void out_text(struct out *out, const char *s)
{
	(void)out_bytes(s, strlen(s), out);
}

/*
 * Is the number one of at most 15 digits? Most are, and read better than 17 digits, which every
 * double needs for the way back in general. A mantissa below 2^53 divided by a power of ten up to
 * 22 is rounded once, hence right, and so equal to what any reader makes of those 15 digits.
 */
static bool is_short(double value)
{
	double power, mantissa;
	int digits;

	if (value == 0)
		return true;
	digits = 14 - (int)floor(log10(fabs(value)));
	if (digits < 0 || digits > 22)
		return false;
	power = pow(10, digits);
	mantissa = nearbyint(fabs(value) * power);
	return mantissa < 1e15 && mantissa / power == fabs(value);
}

static bool all_short(const json_t *json)
{
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_real(json))
		return is_short(json_real_value(json));
	if (json_is_array(json)) {
		json_array_foreach(json, i, value)
		{
			if (!all_short(value))
				return false;
		}
	}
	if (json_is_object(json)) {
		json_object_foreach((json_t *)json, key, value)
		{
			if (!all_short(value))
				return false;
		}
	}
	return true;
}

void out_json(struct out *out, const json_t *json)
{
	size_t digits = all_short(json) ? 15 : 17;

	if (out->error < 0)
		return;
	if (!json ||
		json_dump_callback(
			json, out_bytes, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits)) < 0) {
		/* Not the stream: it is memory, then. */
		if (out->error == 0)
			out->error = -ENOMEM;
	}
}

/* "key": with a comma before it, but for the first. */
static void out_key(struct out *out, const char *key, bool *first)
{
	_cleanup_json_ json_t *name = json_string(key);

	if (!*first)
		out_text(out, ", ");
	*first = false;
	out_json(out, name);
	out_text(out, ": ");
}

void out_object(struct out *out, json_t *object, json_t *metadata, const char *list_key,
	void (*out_list)(struct out *out, json_t *list, void *context), void *context)
{
	bool first = true, has_metadata = false;
	const char *key;
	json_t *value;

	out_text(out, "{");
	json_object_foreach(object, key, value)
	{
		out_key(out, key, &first);
		if (strcmp(key, "metadata") == 0) {
			has_metadata = true;
			out_json(out, metadata);
		} else if (list_key && strcmp(key, list_key) == 0) {
			out_list(out, value, context);
		} else {
			out_json(out, value);
		}
	}
	if (!has_metadata && json_object_size(metadata) > 0) {
		out_key(out, "metadata", &first);
		out_json(out, metadata);
	}
	out_text(out, "}");
}

int out_finish(struct out *out)
{
	if (out->error < 0)
		return out->error;
	errno = 0;
	if (fflush(out->stream) != 0 || ferror(out->stream))
		return errno > 0 ? -errno : -EIO;
	return 0;
}
