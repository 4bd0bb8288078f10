import { afterAll, beforeAll } from '@jest/globals';
import type { Morning } from '../../../scripts/lib/morning.mjs';
import { OidcIssuer } from '../access/oidc-issuer.js';
import { onTestBrowser, type TestBrowser } from '../http/browser.js';
import { signIn } from './console-page.js';
import type { PageUser } from './page-user.js';
import type { Operator } from '../access/console-site.js';
import { PagesService } from './pages-service.js';

/** A service with a morning's data, two administrators and a browser. */
export interface ConsoleWorld {
  readonly service: PagesService;
  readonly browser: TestBrowser;
  readonly issuer: OidcIssuer;
  readonly morning: Morning;
  readonly ada: Operator;
  readonly grace: Operator;
  /** Signs in a person in a browser, by default Ada. */
  signIn(operator?: Operator): Promise<PageUser>;
}

/** A world for the tests of a file. It has its members once the first `beforeAll` has run. */
export function onConsoleWorld(): ConsoleWorld {
  const world = { browser: onTestBrowser() } as {
    -readonly [Member in keyof ConsoleWorld]: ConsoleWorld[Member];
  };
  beforeAll(async () => {
    world.service = await PagesService.start(async (consoleUrl) => {
      const issuer = await OidcIssuer.start(`${consoleUrl}/login/oidc/callback`);
      world.issuer = issuer;
      return {
        ADMIN_OIDC_ISSUER: issuer.url,
        ADMIN_OIDC_CLIENT_ID: issuer.clientId,
        ADMIN_OIDC_CLIENT_SECRET: issuer.clientSecret,
      };
    });
    const { service, browser } = world;
    const ada = await service.newOperator('Ada Operator');
    const grace = await service.newOperator('Grace Operator');
    const morning = await service.morning();
    Object.assign(world, { ada, grace, morning });
    world.signIn = (operator = ada) => signIn(browser, service, operator);
  });
  afterAll(async () => {
    await world.service?.close();
    await world.issuer?.stop();
  });
  return world;
}
