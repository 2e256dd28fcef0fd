/** The native package that watches directories; in a module of its own, because it cannot be loaded everywhere. */
import watcher from '@parcel/watcher'

/** Reports changes below `directory`, or an error of the subscription; resolves with the function that ends it. */
export async function subscribe(directory: string, onEvent: (paths: readonly string[] | undefined) => void): Promise<() => Promise<void>> {
  const subscription = await watcher.subscribe(directory, (error, events) =>
    onEvent(error === null ? events.map(({ path }) => path) : undefined),
  )
  return async () => subscription.unsubscribe()
}
