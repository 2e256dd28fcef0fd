/** Plays a story in a simulated world. */
import type { Simulate } from './simulate-types.js'
import { createWorld } from './world.js'

export const simulateStory: Simulate = async (options, story) => {
  const { world, end } = await createWorld(options)
  try {
    return await story(world)
  } finally {
    await end()
  }
}
