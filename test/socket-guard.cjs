// Ends connections of a test run that leave this machine, and notes them where the run looks. Node loads it first in
// every process that inherits NODE_OPTIONS: those of suites and those that they start. It changes nothing else.
const { appendFileSync } = require('node:fs')
const net = require('node:net')

const local = /^(127\.|::1$|::ffff:127\.|0\.0\.0\.0$|::$)/
const connect = net.Socket.prototype.connect

net.Socket.prototype.connect = function (...given) {
  // With the address, after any lookup.
  this.once('connectionAttempt', address => {
    // Sockets of files have no such address.
    if (net.isIP(address) === 0 || local.test(address)) return
    const note = `${address} from ${process.argv.slice(1, 3).join(' ')}`
    if (process.env.ALMANAC_TESTS_CONNECTIONS !== undefined)
      appendFileSync(process.env.ALMANAC_TESTS_CONNECTIONS, `${note}\n`)
    this.destroy(new Error(`A test may connect to this machine alone, not to ${note}`))
  })
  return Reflect.apply(connect, this, given)
}
