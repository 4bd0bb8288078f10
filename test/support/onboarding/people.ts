import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { AppModule } from '../../../src/app.module.js';
import { ONBOARDING_PAGE } from '../../../src/contexts/onboarding/widget/onboarding-session.guard.js';
import { readConfig } from '../../../src/composition.js';
import { Database } from '../../../src/platform/postgres/database.js';
import { EdgeAdapter } from '../../../src/platform/http/fastify-adapter.js';
import { PageListeners } from '../../../src/platform/http/http.module.js';
import { IdempotencyTicket } from '../../../src/platform/idempotency/ticket.js';
import { UsersView } from '../../../src/contexts/users/users.contract.js';
import { expectAuditPasses } from '../audit-passes.js';
import { specFolder } from '../run-folder.js';
import { dropTestDatabase, testDatabaseUrl } from '../postgres.js';

export interface People {
  readonly module: TestingModule;
  readonly commandBus: CommandBus;
  readonly users: UsersView;
  readonly database: Database;
  /** The folder of the admin API's socket, with the role admin. */
  readonly dataDir: string;
  close(): Promise<void>;
}

export interface PeopleOptions {
  /** The default is a separate database, dropped at the end. */
  readonly databaseUrl?: string;
  readonly masterKey?: string;
  /** The default is `worker,api`. */
  readonly roles?: string;
  /** Further settings. Logging is off by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** False if the suite writes events that no command decides. */
  readonly audited?: boolean;
  readonly override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
}

/** Onboarding with workers and pages, without an API listener. Audits a separate database at the end. */
export async function startPeople(options: PeopleOptions = {}): Promise<People> {
  const url = options.databaseUrl ?? (await testDatabaseUrl());
  const config = readConfig({
    DATABASE_URL: url,
    DATABASE_POOL_SIZE: '6',
    MASTER_KEY: options.masterKey ?? randomBytes(32).toString('hex'),
    ROLES: options.roles ?? 'api,worker',
    WIDGET_PORT: '0',
    ADMIN_PORT: '0',
    PORTAL_PORT: '0',
    PAY_PORT: '0',
    DATA_DIR: specFolder('data'),
    LOG_LEVEL: 'silent',
    ...options.env,
  });
  const builder = Test.createTestingModule({ imports: [AppModule.forRoot(config)] });
  const module = await (options.override?.(builder) ?? builder).compile();
  module.useLogger(false);
  const app = module.createNestApplication(new EdgeAdapter(config), { logger: false });
  await app.init();
  return {
    module,
    commandBus: module.get(CommandBus),
    users: module.get(UsersView),
    database: module.get(Database),
    dataDir: config.dataDir,
    close: async () => {
      await app.close();
      if (options.databaseUrl !== undefined) return;
      try {
        if (options.audited !== false) await expectAuditPasses(url);
      } finally {
        await dropTestDatabase(url);
      }
    },
  };
}

/** `http://127.0.0.1:<port>` of a page, by default the onboarding's. */
export const pageUrl = (app: Pick<INestApplicationContext, 'get'>, page = ONBOARDING_PAGE): string =>
  `http://127.0.0.1:${app.get(PageListeners, { strict: false }).portOf(page)}`;

/** Parses the facts with which a page was opened. */
export async function factsIn<Facts>(response: Response): Promise<Facts> {
  const [, text = ''] = /<main data-facts="([^"]*)"/.exec(await response.text()) ?? [];
  const plain = Object.entries({ quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' }).reduce(
    (html, [name, character]) => html.replaceAll(`&${name};`, character),
    text,
  );
  return JSON.parse(plain) as Facts;
}

/** A ticket of a request without an Idempotency-Key. */
export const plainTicket = (id: string): IdempotencyTicket =>
  Object.assign(new IdempotencyTicket(), { id: () => id });

export const ACT = { reason: 'request of the customer', actor: 'spec' } as const;
