import { expect, it } from 'vitest'
import { readCommand } from './command-line.ts'
import { ConfigError } from './config/config-error.ts'

it('readCommand returns each command with its path, and serve for no arguments', () => {
  const lines = [
    [],
    ['verify'],
    ['copy'],
    ['activate'],
    ['activate', 'discard'],
    ['backup', 'a b'],
    ['restore', './c'],
  ]
  expect(lines.map(readCommand)).toEqual([
    { name: 'serve' },
    { name: 'verify' },
    { name: 'copy' },
    { name: 'activate', discards: false },
    { name: 'activate', discards: true },
    { name: 'backup', path: 'a b' },
    { name: 'restore', path: './c' },
  ])
})

it.each([
  [['start'], 'Unknown command "start"'],
  [['--help'], 'Unknown command "--help"'],
  [[''], 'Unknown command ""'],
  [['verify', 'ff.sqlite'], 'The command "verify" has no arguments (got "ff.sqlite").'],
  [['copy', 'x'], 'The command "copy" has no arguments (got "x").'],
  [['activate', 'x'], 'The command "activate" has no argument but "discard" (got "x").'],
  [['activate', 'discard', 'x'], 'no argument but "discard" (got "discard x").'],
  [['backup'], 'The command "backup" needs the path of the backup: backup <file>.'],
  [['restore', ''], 'The command "restore" needs the path of the backup: restore <file>.'],
  [['backup', 'a', 'b'], 'The command "backup" has one argument (got also "b").'],
])('readCommand refuses the words %j', (words, message) => {
  expect(() => readCommand(words)).toThrow(ConfigError)
  expect(() => readCommand(words)).toThrow(message)
})
