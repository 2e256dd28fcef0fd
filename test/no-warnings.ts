/** A warning of Node is a mistake of ours: here it fails the run, with the place it came from. */
process.on('warning', (warning) => {
  throw warning
})
