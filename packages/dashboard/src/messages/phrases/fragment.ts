/** A part of a sentence. `kind` selects its emphasis; `text` is shown as it is. */
export interface Fragment {
  readonly text: string
  readonly kind: 'plain' | 'attribute' | 'value' | 'variation' | 'segment'
}

/** A sentence as text fragments. */
export type Sentence = readonly Fragment[]

/** A part of a template of `phrase`: text, a number, a fragment or a sentence. */
export type PhrasePart = string | number | Fragment | Sentence

/**
 * Template tag that returns a sentence. Inserted fragments keep their kind; inserted texts are
 * plain. Adjacent plain fragments are joined, and empty ones are left out.
 *
 * @example
 * phrase`If ${{ text: 'plan', kind: 'attribute' }} is set`
 */
export function phrase(texts: TemplateStringsArray, ...parts: readonly PhrasePart[]): Sentence {
  const all = texts.flatMap((text, index) => [plain(text), ...fragmentsOf(parts[index] ?? '')])
  return joined(all)
}

/** Returns the text of a sentence without emphasis, for labels and titles. */
export function textOf(sentence: Sentence): string {
  return sentence.map(({ text }) => text).join('')
}

function plain(text: string): Fragment {
  return { text, kind: 'plain' }
}

function fragmentsOf(part: PhrasePart): Sentence {
  if (typeof part === 'string' || typeof part === 'number') return [plain(String(part))]
  return 'kind' in part ? [part] : part
}

function joined(fragments: Sentence): Sentence {
  const result: Fragment[] = []
  for (const fragment of fragments) {
    const last = result.at(-1)
    if (fragment.text === '') continue
    if (last?.kind === 'plain' && fragment.kind === 'plain') {
      result[result.length - 1] = plain(last.text + fragment.text)
    } else result.push(fragment)
  }
  return result
}
