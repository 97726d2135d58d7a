// The accounts of the tests on real nodes, by name. The first three have ether from the beginning.
import { developmentAccount } from '../sandbox/src/evm-accounts.ts'

export const accounts = {
  alice: developmentAccount(0),
  bob: developmentAccount(1),
  carol: developmentAccount(2),
  dave: developmentAccount(20),
  erin: developmentAccount(21),
  frank: developmentAccount(22),
}
export type AccountName = keyof typeof accounts
