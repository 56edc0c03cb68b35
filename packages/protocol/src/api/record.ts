import * as z from 'zod'

/** A two-way codec: wire spelling and values outside, house spelling inside. */
export type Wire<T> = z.ZodType<T, Readonly<Record<string, unknown>>>

type Shape = Readonly<Record<string, z.ZodType>>
type Names<S extends Shape> = { readonly [K in keyof S]?: string }

/**
 * A codec for one object that renames exactly the listed keys and refuses unknown ones.
 *
 * Faults found while decoding name the wire field, because that is what the caller typed.
 *
 * @example
 * const codec = record({ flagId: id, name: z.string() }, { flagId: 'flag_id' })
 * z.decode(codec, { flag_id: '…', name: 'a' }) // { flagId: '…', name: 'a' }
 */
export function record<S extends Shape>(shape: S, names: Names<S>): Wire<z.output<z.ZodObject<S>>> {
  const wireShape: Record<string, z.ZodType> = {}
  const toWire = new Map<string, string>()
  const fromWire = new Map<string, string>()
  for (const [name, schema] of Object.entries(shape)) {
    const wireName = names[name] ?? name
    wireShape[wireName] = schema
    toWire.set(name, wireName)
    fromWire.set(wireName, name)
  }
  return z.codec(z.strictObject(wireShape), z.custom<z.output<z.ZodObject<S>>>(), {
    decode: (wire) => rename(wire, fromWire) as z.output<z.ZodObject<S>>,
    encode: (value) => rename(value, toWire),
  })
}

function rename(object: object, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(object)) {
    const other = names.get(name)
    if (other !== undefined) renamed[other] = value
  }
  return renamed
}
