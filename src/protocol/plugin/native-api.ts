/** Version of the interface between this program and code of packages that runs in it. */
export const NATIVE_API = 2

/** What is approved with it, for whoever is asked. */
export const NATIVE_WORDS =
  'everything that svc itself may, for nothing contains it: read and change every file of yours, credentials and conversations included, use the network, start programs, and end the server'
