// Makes the table before the Squid runs, as its migrations would.
import { createOrmConfig } from '@subsquid/typeorm-config'
import { DataSource } from 'typeorm'

const source = new DataSource(createOrmConfig())
await source.initialize()
await source.synchronize()
await source.destroy()
