import { expect, it } from 'vitest'
import { type CloneProgress, createProgressReader } from '../../../src/platform/git/program/clone-progress.js'

function read(chunks: readonly string[]) {
  const steps: CloneProgress[] = []
  let text = ''
  const reader = createProgressReader(
    (step) => steps.push(step),
    (more) => (text += more),
  )
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return { steps, text }
}

it('tells steps from what explains a failure, wherever what is read was cut', () => {
  const said = [
    "Cloning into 'x'...\nremote: Enumerating objects: 3, done.\nremote: Counting objects: 100% (3/3), done.\n",
    'Receiving objects:  50% (1/2), 1.50 MiB | 700.00 KiB/s\rReceiving objects: 100% (2/2), 3.00 GiB | 1.00 MiB/s, done.\n',
    'Resolving deltas: 100% (1/1), done.\nremote: Repository not found.\nfatal: it is not there',
  ].join('')
  const whole = read([said])
  expect(whole).toEqual({
    steps: [
      { phase: 'Counting objects', percent: 100 },
      { phase: 'Receiving objects', percent: 50, bytes: 1_572_864 },
      { phase: 'Receiving objects', percent: 100, bytes: 3_221_225_472 },
      { phase: 'Resolving deltas', percent: 100 },
    ],
    text: 'remote: Repository not found.\nfatal: it is not there\n',
  })
  expect(read([...said])).toEqual(whole)
})

it('keeps no more of a line without an end than is useful', () => {
  expect(read(Array.from({ length: 100 }, () => 'x'.repeat(1000))).text.length).toBeLessThan(5000)
})
