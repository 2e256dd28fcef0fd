import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recoverRooms, roomPrefix } from '../../../../src/cli/commands/plugin/abandoned-rooms.js'

const ID = 'dev.example.hello'
let config: string
beforeEach(() => {
  config = mkdtempSync(join(tmpdir(), 'svc-rooms-'))
  mkdirSync(join(config, 'plugins'))
})
afterEach(() => rmSync(config, { recursive: true }))

/** As a command leaves it that is killed when it has moved the package away. */
function room(pid: number): string {
  const name = `${roomPrefix(pid)}abcdef`
  mkdirSync(join(config, name, 'replaced', ID), { recursive: true })
  writeFileSync(join(config, name, 'replaced', ID, 'agent.lua'), 'before')
  mkdirSync(join(config, name, 'staged/package'), { recursive: true })
  return name
}
const content = () => readFileSync(join(config, 'plugins', ID, 'agent.lua'), 'utf8')
const ended = () => spawnSync(process.execPath, ['--version']).pid

test('what a killed command had moved away is put back, and what it was writing is removed', () => {
  room(ended())
  recoverRooms(config)
  expect(content()).toBe('before')
  expect(readdirSync(config)).toEqual(['plugins'])
})

test('what is in its place already stays', () => {
  room(ended())
  mkdirSync(join(config, 'plugins', ID))
  writeFileSync(join(config, 'plugins', ID, 'agent.lua'), 'after')
  recoverRooms(config)
  expect(content()).toBe('after')
  expect(readdirSync(config)).toEqual(['plugins'])
})

test('the room of a command that runs is left alone, and so is what is none', () => {
  const mine = room(process.pid)
  mkdirSync(join(config, '.adding-notes'))
  recoverRooms(config)
  expect(readdirSync(config).toSorted()).toEqual([mine, '.adding-notes', 'plugins'].toSorted())
  expect(existsSync(join(config, 'plugins', ID))).toBe(false)
  recoverRooms(join(config, 'missing'))
})
