import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Keyboard } from './keyboard.ts'
import { rememberShortcuts } from './keyboard-setting.ts'

const run = vi.fn()
let keyboard: Keyboard

function press(key: string, init: KeyboardEventInit = {}, target: EventTarget = document.body) {
  const event = new KeyboardEvent('keydown', { key, cancelable: true, bubbles: true, ...init })
  Object.defineProperty(event, 'target', { value: target })
  keyboard.press(event)
}

beforeEach(() => {
  run.mockClear()
  document.body.innerHTML = ''
  keyboard = new Keyboard()
  keyboard.add([
    { keys: ['g', 'f'], name: 'Go to Flags', run: () => run('flags') },
    { keys: ['?'], name: 'List', run: () => run('list') },
    { keys: ['mod+k'], name: 'Command bar', run: () => run('bar') },
  ])
})

describe('Keyboard', () => {
  it('Two keys one after the other run their shortcut.', () => {
    press('g')
    press('f')
    expect(run).toHaveBeenCalledExactlyOnceWith('flags')
  })

  it('The second key alone runs nothing.', () => {
    press('f')
    expect(run).not.toHaveBeenCalled()
  })

  it('While a text is edited, only shortcuts with a modifier run.', () => {
    const input = document.body.appendChild(document.createElement('input'))
    press('?', {}, input)
    press('k', { ctrlKey: true }, input)
    expect(run).toHaveBeenCalledExactlyOnceWith('bar')
  })

  it('While a dialog is open, single keys run nothing.', () => {
    document.body.innerHTML = '<div role="dialog"></div>'
    press('?')
    expect(run).not.toHaveBeenCalled()
  })

  it('Disabled single keys run nothing.', () => {
    keyboard.isEnabled = false
    press('?')
    expect(run).not.toHaveBeenCalled()
  })

  it('Removed shortcuts run nothing.', () => {
    keyboard.add([{ keys: ['x'], name: 'X', run }])()
    press('x')
    expect(run).not.toHaveBeenCalled()
  })
})

describe('the setting of the shortcuts', () => {
  it('Disabled shortcuts stay disabled in a new page.', () => {
    rememberShortcuts(false)
    expect(new Keyboard().isEnabled).toBe(false)
    rememberShortcuts(true)
    expect(new Keyboard().isEnabled).toBe(true)
  })
})
