/** What an answer was made from, and a hash of the answer: equal tags mean equal values. */
export interface EntityTag {
  /** Of the flag set. */
  readonly version: number
  /** How many instants of that version's gradual rollouts had passed. */
  readonly step: number
  readonly contextHash: string
  readonly valuesHash: string
}

const PATTERN = /^(?:W\/)?"(\d{1,15})\.(\d{1,15})-([0-9a-f]{32})-([0-9a-f]{32})"$/

/** `"version.step-contextHash-valuesHash"`, quotes included, as the `ETag` header carries it. */
export function entityTagText(tag: EntityTag): string {
  return `"${tag.version}.${tag.step}-${tag.contextHash}-${tag.valuesHash}"`
}

/** The tag in a text, strong or weak; `undefined` when it is not one of ours. */
export function asEntityTag(text: string): EntityTag | undefined {
  const [, version, step, contextHash, valuesHash] = PATTERN.exec(text.trim()) ?? []
  if (contextHash === undefined || valuesHash === undefined) return undefined
  return { version: Number(version), step: Number(step), contextHash, valuesHash }
}

/** Every tag of ours in an `If-None-Match` header. */
export function entityTagsIn(header: string): readonly EntityTag[] {
  return header.split(',').flatMap((text) => asEntityTag(text) ?? [])
}
