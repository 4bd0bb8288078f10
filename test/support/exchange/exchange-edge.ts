import { randomUUID } from 'node:crypto';
import { Controller, Get, Module, Param, Patch, Post, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type {
  ExchangeCaller,
  KnownExchangeKey,
} from '../../../src/contexts/access/application/known-credentials.js';
import { NO_PAGE_SETTINGS } from '../../../src/contexts/access/domain/exchange-key.js';
import { CallingKey } from '../../../src/contexts/exchange/http/caller.js';
import { ExchangeAuthentication } from '../../../src/contexts/exchange/http/exchange-authentication.js';
import { Authentications } from '../../../src/platform/http/authentication.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../../src/platform/http/merchant-directory.js';
import type { Database } from '../../../src/platform/postgres/database.js';
import { startEdgeApp, type EdgeApp } from '../http/edge-app.js';
import { ExchangeClient } from './exchange-client.js';

const keys = new Map<string, KnownExchangeKey>();

/** Routes under the names of the exchange's; each reports who called it. */
@Controller('v1')
class ProbeController {
  @Post('orders')
  create(@CallingKey() caller: ExchangeCaller) {
    return { key_id: caller.keyId };
  }

  @Patch('orders/:id/:action')
  act(@CallingKey() caller: ExchangeCaller, @Param('id') id: string) {
    return { key_id: caller.keyId, id };
  }

  @Get('merchant/orders')
  list(@CallingKey() caller: ExchangeCaller) {
    return { key_id: caller.keyId };
  }

  @Get('merchants/configuration')
  configuration(@CallingKey() caller: ExchangeCaller) {
    return { key_id: caller.keyId };
  }

  @Get('tokens')
  tokens(@CallingKey() caller: ExchangeCaller) {
    return caller;
  }
}

@Module({ controllers: [ProbeController] })
class ProbeModule implements OnModuleInit {
  constructor(
    private readonly authentications: Authentications,
    private readonly modules: ModuleRef,
  ) {}

  onModuleInit(): void {
    const merchants = this.modules.get<MerchantDirectory>(MERCHANT_DIRECTORY, { strict: false });
    const directory = { find: async (key: string) => keys.get(key) ?? null };
    this.authentications.register(new ExchangeAuthentication(directory, merchants));
  }
}

/** The edge of the exchange alone, and routes behind it. */
export function startExchangeEdge(
  database: Database,
  env: Readonly<Record<string, string>>,
): Promise<EdgeApp> {
  return startEdgeApp(database, env, [ProbeModule]);
}

/** A client of a new key, of a new merchant unless one is given. */
export function keyOf(
  { url, merchants }: EdgeApp,
  key: Partial<KnownExchangeKey> = {},
  status: 'active' | 'suspended' = 'active',
): ExchangeClient {
  const [keyId, merchantId, secret] = [randomUUID(), key.merchantId ?? randomUUID(), `dxs_${randomUUID()}`];
  if (!merchants.has(merchantId))
    merchants.set(merchantId, { merchantId, privateKeys: [], ipAllowList: [], status });
  const signing = { demandsSignature: false, memoSigning: 'contract' as const };
  const page = NO_PAGE_SETTINGS;
  keys.set(keyId, {
    keyId,
    merchantId,
    ...signing,
    secrets: [secret],
    cidrs: [],
    withdrawAddresses: [],
    page,
    ...key,
  });
  return new ExchangeClient(url, { apiKey: keyId, secret: key.secrets?.at(-1) ?? secret });
}
