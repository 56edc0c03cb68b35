import { act, cleanup, render, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { messages } from '../messages/messages.ts'
import { showToast, ToastRegion } from './toast.tsx'

const { undo, dismiss } = messages.components

afterEach(async () => {
  for (const button of screen.queryAllByRole('button', { name: dismiss })) {
    await userEvent.click(button)
  }
  cleanup()
})

describe('ToastRegion', () => {
  it('Only the last change of a flag can be undone; other flags keep their messages.', async () => {
    const runs = vi.fn()
    render(<ToastRegion />)
    act(() => {
      showToast('published', { subject: ['flag', 'live'], run: () => runs('publish') })
      showToast('staged', { subject: ['flag', 'staging'], run: () => runs('staging') })
      showToast('switched off', { subject: ['flag', 'live'], run: () => runs('switch') })
    })
    expect(screen.queryByText('published')).toBeNull()
    const buttons = screen.getAllByRole('button', { name: undo })
    expect(buttons).toHaveLength(2)
    for (const button of buttons) await userEvent.click(button)
    expect(runs.mock.calls).toEqual([['staging'], ['switch']])
    expect(screen.queryByText('switched off')).toBeNull()
  })

  it('Messages without an undo do not replace each other.', () => {
    render(<ToastRegion />)
    act(() => {
      showToast('first')
      showToast('second')
    })
    expect([screen.queryByText('first'), screen.queryByText('second')]).not.toContain(null)
  })
})
