import { expect, it } from 'vitest'
import { labelled } from './worker-metrics.ts'

it('labelled adds the label to each series and changes nothing else', () => {
  const text = '# HELP a What a is.\n# TYPE a counter\na 1\nb{c="d e {"} 2\n'
  expect(labelled(text, 'worker="2"')).toBe(
    '# HELP a What a is.\n# TYPE a counter\na{worker="2"} 1\nb{worker="2",c="d e {"} 2\n',
  )
})
