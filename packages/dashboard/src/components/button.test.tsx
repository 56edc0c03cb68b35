import { cleanup, render, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Button } from './button.tsx'

afterEach(cleanup)

describe('Button', () => {
  it('A button with a reason can be focused, shows the reason, and does nothing.', async () => {
    const onPress = vi.fn()
    const reason = 'Your role does not permit this.'
    render(
      <Button aria-label="Delete" onPress={onPress} disabledReason={reason}>
        x
      </Button>,
    )
    const button = screen.getByRole('button', { name: 'Delete', description: reason })
    await userEvent.tab()
    expect(document.activeElement).toBe(button)
    expect((await screen.findByRole('tooltip')).textContent).toBe(reason)
    await userEvent.click(button)
    await userEvent.keyboard('{Enter}')
    expect(onPress).not.toHaveBeenCalled()
    await userEvent.tab()
    await expect.poll(() => screen.queryByRole('tooltip')).toBeNull()
  })
})
