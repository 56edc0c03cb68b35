import * as z from 'zod'

/** A UUID in lower case. */
export const id = z.guid('must be a UUID').toLowerCase()

/** A time in UTC with milliseconds, in the format of `Date.prototype.toISOString`. */
export const timestamp = z.iso.datetime({ precision: 3 })

/** A time in a request: any RFC 3339 time with a zone. Decodes to a `timestamp`. */
export const instant = z.codec(z.iso.datetime({ offset: true }), timestamp, {
  decode: (text) => new Date(text).toISOString(),
  encode: (text) => text,
})

/**
 * Returns the schema of free text of at most `maxLength` UTF-16 units. NUL and unpaired surrogates
 * are refused, because not every store can save them.
 */
export function text(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .regex(/^[^\0\p{Cs}]*$/u, 'must not contain NUL or unpaired surrogates')
}

const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const KEY_FORM = '1–128 letters, digits, ".", "_" or "-", and begin with a letter or digit'

/**
 * An immutable key that a user chooses, unique among the resources of the same parent that are not
 * deleted.
 */
export const key = z.string().regex(KEY, `must be ${KEY_FORM}`)

/** The key of a new resource. A UUID is refused, because it would be read as an id. */
export const newKey = key.regex(
  /^(?![0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$)/,
  'must not have the form of a UUID, because ids have this form',
)

/** An id, or the key of a resource. A text that has the form of a UUID is an id if it exists. */
export const idOrKey = z
  .string()
  .regex(KEY, `must be an id or a key: ${KEY_FORM}`)
  .meta({ description: 'An id or a key.' })

/** Returns `true` if a text has the form of an id: a UUID in upper or lower case. */
export function isId(text: string): boolean {
  return id.safeParse(text).success
}

const storedName = z
  .string()
  .trim()
  .min(1)
  .max(256)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters')

/** A visible character. U+2800 is excluded because it is the empty Braille pattern. */
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Cf}\u2800]/u

/** Returns `true` if a text contains a character that is visible: no white space, no control. */
export function hasVisibleCharacter(text: string): boolean {
  return VISIBLE.test(text)
}

const BIDI_CONTROL = /\p{Bidi_Control}/u

/**
 * A display name: one line without control characters. Decoding also requires a visible character
 * and refuses bidirectional controls. Encoding does not check this, so that every stored name can
 * be returned.
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
  if (!hasVisibleCharacter(text)) return 'must contain a visible character'
  return BIDI_CONTROL.test(text) ? 'must not contain bidirectional control characters' : undefined
}

/** A description, which may be empty. */
export const description = text(4096)

/** A single e-mail address, without a display name or comments. */
export const email = z.email('must be an e-mail address, such as ann@example.com').max(254)

/** The reference to a context attribute in rules, segments and rollouts. */
export const attributeReference = text(512).min(1)

/** The same in a request, without white space at its ends. */
export const attributeName = text(512).trim().min(1)

/** A count or an index that is never negative. */
export const count = z.int().min(0)

/** Returns the codec of a decimal integer from `min` to `max` in a path or a query. */
export const wholeNumber = (min: number, max: number) =>
  z.codec(z.string().regex(/^\d{1,10}$/, 'must be an integer'), z.int().min(min).max(max), {
    decode: Number,
    encode: String,
  })

/** The last four fields of every record. */
export const recordFields = {
  createdAt: timestamp,
  updatedAt: timestamp,
  deletedAt: timestamp.nullable(),
  revision: z.int().min(1),
}

/**
 * Returns the codec of an optional field in a PUT body. `null` decodes to `empty`, and an absent
 * field stays absent.
 */
export function clearable<T>(schema: z.ZodType<T>, empty: T): z.ZodOptional<z.ZodType<T>> {
  return z
    .codec(schema.nullable(), z.custom<T>(), {
      decode: (value) => value ?? empty,
      encode: (value) => value as never,
    })
    .optional()
}
