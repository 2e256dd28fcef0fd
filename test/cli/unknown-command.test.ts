import { expect, test } from 'vitest'
import { unknownCommand } from '../../src/cli/unknown-command.js'
import { readArguments } from '../../src/cli/arguments.js'

test.each([
  ['login', 'svc auth login'],
  ['resume', 'svc -c for the latest conversation, svc session list for the others'],
  ['version', 'svc --version'],
  ['exec', 'svc run'],
  ['stats', 'svc usage'],
  ['status', 'svc doctor, or svc session list'],
])('%s is said to be %s', (typed, command) => {
  expect(readArguments([typed])).toMatchObject({ name: 'usage', problem: `there is no command "${typed}"; it is ${command}` })
})

test('what stands for a name is understood itself, and a typing error is still guessed', () => {
  for (const line of [
    ['auth', 'login', 'x'],
    ['-c'],
    ['--version'],
    ['run', 'x'],
    ['usage'],
    ['doctor'],
    ['session', 'list'],
    ['upgrade'],
    ['inspect'],
  ])
    expect(readArguments(line).name).not.toBe('usage')
  expect(unknownCommand('sesion')).toBe('there is no command "sesion"; did you mean session?')
  expect(unknownCommand('zzz')).toContain('the commands are serve, run')
})
