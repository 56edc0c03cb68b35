/** One frame of an event stream; `event` and `data` are empty for a frame with only an id. */
export interface Frame {
  readonly event: string
  readonly id: string | null
  readonly data: string
}

/** Splits the text of an event stream into frames. Comments are left out. */
export class EventParser {
  #rest = ''

  /** Returns the frames that are complete with the next part of the text. */
  add(text: string): readonly Frame[] {
    const blocks = (this.#rest + text).replaceAll('\r\n', '\n').split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.map(frameOf).filter(({ event, id }) => event !== '' || id !== null)
  }
}

function frameOf(block: string): Frame {
  const lines = block.split('\n')
  const valuesOf = (name: string) => {
    const prefix = `${name}:`
    const found = lines.filter((line) => line.startsWith(prefix))
    return found.map((line) => line.slice(prefix.length).replace(/^ /, ''))
  }
  const id = valuesOf('id').at(-1) ?? null
  return { event: valuesOf('event').at(-1) ?? '', id, data: valuesOf('data').join('\n') }
}
