import * as z from 'zod'

/** A UUID in lower case. */
export const id = z.guid('must be a UUID').toLowerCase()

/** ISO-8601 in UTC with milliseconds, as `Date.prototype.toISOString` writes it. */
export const timestamp = z.iso.datetime({ precision: 3 })

/** An instant as callers may write it: any RFC 3339 time with a zone. Becomes a `timestamp`. */
export const instant = z.codec(z.iso.datetime({ offset: true }), timestamp, {
  decode: (text) => new Date(text).toISOString(),
  encode: (text) => text,
})

/** Free text: no NUL, which some stores cannot keep, and no halves of characters. */
export function text(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .regex(/^[^\0\p{Cs}]*$/u, 'must not contain NUL or incomplete characters')
}

/** A key chosen by a user: unique among the undeleted siblings, never changed. */
export const key = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    'must be 1–128 letters, digits, ".", "_" or "-", and begin with a letter or digit',
  )

const storedName = z
  .string()
  .trim()
  .min(1)
  .max(256)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters')

/** A character that shows; U+2800 is the empty Braille pattern. */
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Cf}\u2800]/u
const BIDI_CONTROL = /\p{Bidi_Control}/u

/**
 * A display name: one line, no control characters. When it is decoded, it must also have a visible
 * character and no bidirectional controls; stored names without that can still be answered.
 */
export const name = z.codec(storedName, z.string(), {
  decode: (text, context) => {
    const fault = nameFault(text)
    if (fault !== undefined) {
      context.issues.push({ code: 'custom', message: fault, input: text })
    }
    return text
  },
  encode: (text) => text,
})

function nameFault(text: string): string | undefined {
  if (!VISIBLE.test(text)) return 'must contain a visible character'
  return BIDI_CONTROL.test(text) ? 'must not contain bidirectional control characters' : undefined
}

/** A description, which may be empty. */
export const description = text(4096)

/** One address, without a name and without comments. */
export const email = z.email('must be an e-mail address').max(254)

/** How an attribute of a context is named in rules, segments and rollouts. */
export const attributeReference = text(512).min(1)

/** A count or an index that is never negative. */
export const count = z.int().min(0)

/** A whole number in decimal, in a path or a query. */
export const wholeNumber = (min: number, max: number) =>
  z.codec(z.string().regex(/^\d{1,10}$/, 'must be a whole number'), z.int().min(min).max(max), {
    decode: Number,
    encode: String,
  })

/** The four fields that end every record. */
export const recordFields = {
  createdAt: timestamp,
  updatedAt: timestamp,
  deletedAt: timestamp.nullable(),
  revision: z.int().min(1),
}

/** In the body of a PUT: absent leaves the field as it is, `null` makes it `empty`. */
export function clearable<T>(schema: z.ZodType<T>, empty: T): z.ZodOptional<z.ZodType<T>> {
  return z
    .codec(schema.nullable(), z.custom<T>(), {
      decode: (value) => value ?? empty,
      encode: (value) => value as never,
    })
    .optional()
}
