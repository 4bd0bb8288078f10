import { Global, Module } from '@nestjs/common';
import { JsonRpcChain } from './adapters/json-rpc-chain.js';
import { CHAIN_READER } from './application/ports.js';

/** The nodes of the chain, for payouts and for contexts that verify transfers: those know {@link CHAIN_READER} alone. */
@Global()
@Module({
  providers: [JsonRpcChain, { provide: CHAIN_READER, useExisting: JsonRpcChain }],
  exports: [CHAIN_READER],
})
export class ChainModule {}
