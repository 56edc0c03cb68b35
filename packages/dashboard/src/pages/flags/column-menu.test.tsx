import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { afterEach, expect, it, vi } from 'vitest'
import { ColumnMenu } from './column-menu.tsx'

const environments = [
  { id: 'e-1', name: 'Live' },
  { id: 'e-2', name: 'Staging' },
]
const view = { hidden: ['updated'], isCompact: true }

afterEach(cleanup)

it('In a wide window, all columns and the height of the rows can be chosen.', async () => {
  render(<ColumnMenu {...{ environments, view }} onChange={vi.fn()} isNarrow={false} />)
  await userEvent.click(screen.getByRole('button', { name: 'Columns' }))
  const names = ['Type', 'Tags', 'Changed', 'Live', 'Staging', 'Compact rows']
  for (const name of names) screen.getByRole('checkbox', { name })
  expect(screen.getAllByRole('checkbox')).toHaveLength(names.length)
})

it('For cards, only the environments can be chosen, and the choices for the table are kept.', async () => {
  const onChange = vi.fn()
  render(<ColumnMenu {...{ environments, view, onChange }} isNarrow />)
  await userEvent.click(screen.getByRole('button', { name: 'Environments' }))
  expect(screen.getAllByRole('checkbox')).toHaveLength(2)
  await userEvent.click(screen.getByRole('checkbox', { name: 'Staging' }))
  expect(onChange).toHaveBeenCalledWith({ hidden: ['updated', 'e-2'], isCompact: true })
})
