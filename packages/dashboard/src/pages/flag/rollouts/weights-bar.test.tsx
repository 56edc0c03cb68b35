import { cleanup, render, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { useState } from 'react'
import { afterEach, expect, it } from 'vitest'
import { WeightsBar } from './weights-bar.tsx'

afterEach(cleanup)

function Host({ start }: { readonly start: readonly number[] }) {
  const [weights, setWeights] = useState(start)
  const shares = weights.map((percent, index) => {
    return { id: `id-${index}`, name: `v${index}`, index, percent }
  })
  return <WeightsBar shares={shares} onChange={setWeights} />
}

it('The keyboard moves the weight of two variations against each other', async () => {
  const user = userEvent.setup()
  render(<Host start={[50, 50]} />)
  const handles = screen.getAllByRole('slider')
  expect(handles).toHaveLength(1)
  await user.tab()
  await user.keyboard('{ArrowRight}{Shift>}{ArrowRight}{/Shift}{PageUp}')
  expect(screen.getAllByRole('slider')[0]?.getAttribute('aria-valuetext')).toBe('61.1 %')
})

it('A share below 100 has a handle of its own', async () => {
  const user = userEvent.setup()
  render(<Host start={[25]} />)
  screen.getByRole('slider', { name: 'Share of v0' }).focus()
  await user.keyboard('{PageDown}{PageDown}{PageDown}')
  expect(screen.getByRole('slider').getAttribute('aria-valuenow')).toBe('0')
  await user.keyboard('{End}')
  expect(screen.getByRole('slider').getAttribute('aria-valuenow')).toBe('100')
})
