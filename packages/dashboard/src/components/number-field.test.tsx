import { cleanup, render, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { useState } from 'react'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { messages } from '../messages/messages.ts'
import { NumberField } from './number-field.tsx'

let values: (number | undefined)[]

function Example() {
  const [value, setValue] = useState<number | undefined>(25)
  const change = (next: number | undefined) => {
    values.push(next)
    setValue(next)
  }
  return <NumberField label="Share" value={value} onChange={change} minValue={0} maxValue={100} />
}

/** Returns the field with its text selected, as after a click into it. */
async function field(): Promise<HTMLInputElement> {
  const input = screen.getByRole<HTMLInputElement>('textbox', { name: 'Share' })
  await userEvent.click(input)
  input.select()
  return input
}

beforeEach(() => {
  values = []
  render(<Example />)
})
afterEach(cleanup)

it('Each number is passed on while it is typed', async () => {
  const input = await field()
  await userEvent.keyboard('3')
  await userEvent.keyboard('0')
  expect(values).toEqual([3, 30])
  expect(input.value).toBe('30')
})

it('Home and End move the caret and keep the number', async () => {
  const input = await field()
  await userEvent.keyboard('{End}{Home}')
  expect(values).toEqual([])
  expect(input.value).toBe('25')
})

it('A number outside of the range is passed on, stays and has a fault', async () => {
  const input = await field()
  await userEvent.keyboard('130')
  await userEvent.tab()
  expect(values).toEqual([1, 13, 130])
  expect(input.value).toBe('130')
  expect(screen.getByText(messages.components.range(0, 100))).toBeDefined()
})

it('A text that is not a number is not passed on, stays and has a fault', async () => {
  const input = await field()
  await userEvent.keyboard('x')
  await userEvent.tab()
  expect(values).toEqual([])
  expect(input.value).toBe('x')
  expect(screen.getByText(messages.components.notANumber)).toBeDefined()
})

it('Keys that the field does not handle reach the elements around it', async () => {
  const keys: string[] = []
  const listen = ({ key }: KeyboardEvent) => keys.push(key)
  document.body.addEventListener('keydown', listen)
  await field()
  await userEvent.keyboard('{Escape}{ArrowUp}')
  document.body.removeEventListener('keydown', listen)
  expect(keys).toEqual(['Escape'])
})

it('The arrow keys change the number by 1 within the range', async () => {
  await field()
  await userEvent.keyboard('{ArrowUp}{ArrowDown}{ArrowDown}')
  expect(values).toEqual([26, 25, 24])
  await userEvent.keyboard('{Control>}a{/Control}100{ArrowUp}')
  expect(values.at(-1)).toBe(100)
})

it('A comma that can separate thousands is refused instead of read as a decimal separator', async () => {
  cleanup()
  const changes: (number | undefined)[] = []
  const change = (value: number | undefined) => void changes.push(value)
  render(<NumberField label="Hours" value={24} onChange={change} minValue={0} maxValue={8760} />)
  const input = screen.getByRole<HTMLInputElement>('textbox', { name: 'Hours' })
  await userEvent.click(input)
  input.select()
  await userEvent.paste('1,000')
  await userEvent.tab()
  expect([changes, input.value]).toEqual([[undefined], '1,000'])
  expect(screen.getByText(messages.components.ambiguous)).toBeDefined()
})
