import { describe, expect, it } from 'vitest'
import { createYoungGeneration } from '../../../src/platform/node/heap.js'

const MIB = 1024 * 1024

/** A young generation of so many MiB, and the flags that were set. */
function young() {
  const flags: string[] = []
  const state = { mib: 1 }
  const generation = createYoungGeneration(
    (flag) => flags.push(flag.replace('--semi-space-growth-factor=', '')),
    () => state.mib * MIB,
  )
  return { flags, state, generation }
}

describe('the room for young objects', () => {
  it('stays as it is during the start, grows with the first work, and no more once it is large enough', () => {
    const heap = young()
    heap.generation.hold()
    heap.generation.hold()
    expect(heap.flags).toEqual(['1'])
    heap.generation.bound()
    heap.generation.bound()
    expect(heap.flags).toEqual(['1', '2'])
    heap.state.mib = 8
    heap.generation.bound()
    heap.generation.bound()
    expect(heap.flags).toEqual(['1', '2', '1'])
  })

  it('stays as it is for good where it was large already when work came', () => {
    const heap = young()
    heap.generation.hold()
    heap.state.mib = 16
    heap.generation.bound()
    heap.state.mib = 1
    heap.generation.bound()
    expect(heap.flags).toEqual(['1'])
  })

  it('is free again where it is no longer held, also by the entry of the program, until it is large enough', () => {
    const heap = young()
    heap.generation.release()
    expect(heap.flags).toEqual(['2'])
    heap.generation.hold()
    heap.generation.release()
    expect(heap.flags).toEqual(['2', '1', '2'])
    heap.state.mib = 8
    heap.generation.bound()
    heap.generation.release()
    expect(heap.flags).toEqual(['2', '1', '2', '1'])
  })

  it('is bounded in a process that never held it', () => {
    const heap = young()
    heap.generation.bound()
    heap.state.mib = 8
    heap.generation.bound()
    expect(heap.flags).toEqual(['1'])
  })
})
