import { CommandBus } from '@nestjs/cqrs';
import { morning, type Morning, type MorningPlace } from '../../../scripts/lib/morning.mjs';
import { freePort } from '../../../sandbox/processes.js';
import { FUNDED } from '../../../sandbox/usdc.js';
import type { Role } from '../../../src/contexts/access/access.contract.js';
import { UpdateOperator } from '../../../src/contexts/access/operators/operators.commands.js';
import { ConsoleSite, type Operator } from '../access/console-site.js';
import type { AdminClient } from '../admin/admin-client.js';
import { startTestApp, type TestApp, type TestSettings } from '../app.js';
import { pageUrl } from '../onboarding/people.js';
import { CHAIN_ID } from '../payouts/chain.js';
import { TestNode } from '../payouts/test-node.js';
import { TestReceiver } from '../webhooks/receiver.js';

type SettingsFor = (consoleUrl: string) => Promise<TestSettings>;

/** Fast settings, in which each attempt of a delivery follows at once. */
const SETTINGS: TestSettings = {
  EXCHANGE_CHECK_INTERVAL_MS: '100',
  EXCHANGE_SCAN_INTERVAL_MS: '50',
  EXCHANGE_SETTLE_MS: '100',
  PAYOUT_FINALITY: '1',
  AUDIT_HEAD_SECONDS: '1',
  // The morning's data raises it above this value.
  RATE_LIMIT_PER_MINUTE: '4000',
};

/** The service with the console and the portal, its node and a receiver of webhooks. */
export class PagesService extends ConsoleSite {
  private constructor(
    app: TestApp,
    readonly consoleUrl: string,
    readonly portalUrl: string,
    readonly node: TestNode,
    /** The receiver of the endpoint in `morning`. It responds with 500 until a test changes that. */
    readonly receiver: TestReceiver,
    readonly admin: AdminClient,
  ) {
    super(app);
  }

  /** `settingsFor` returns further settings for the address of the console. */
  static async start(settingsFor: SettingsFor = async () => ({})): Promise<PagesService> {
    const [adminPort, portalPort] = [await freePort(), await freePort()];
    const consoleUrl = `http://localhost:${adminPort}`;
    const portalUrl = `http://localhost:${portalPort}`;
    const [receiver, nodes] = [await TestReceiver.start(), [] as TestNode[]];
    receiver.behavior = (response) => response.writeHead(500).end('out of order until noon');
    const app = await startTestApp(
      {
        ...SETTINGS,
        ADMIN_PORT: String(adminPort),
        ADMIN_URL: consoleUrl,
        PORTAL_PORT: String(portalPort),
        PORTAL_URL: portalUrl,
        ...(await settingsFor(consoleUrl)),
      },
      async (chainUrl) => {
        nodes.push(await TestNode.start(chainUrl));
        return nodes[0]!.url;
      },
    );
    return new PagesService(app, consoleUrl, portalUrl, nodes[0]!, receiver, await app.newAdmin());
  }

  /** Writes the data of the console's demo. */
  morning(): Promise<Morning> {
    const { app, admin, receiver } = this;
    const { apiKey, secret } = app.exchange.signing.credentials;
    const { apiKey: api_key, privateKey: private_key } = app.merchant.credentials;
    const place: MorningPlace = {
      base_url: app.url,
      widget_url: pageUrl(app.app),
      merchant: { api_key, private_key },
      exchange: { api_key: apiKey, secret },
      admin: { base_url: admin.baseUrl, api_key: admin.key },
      chain: {
        rpc_url: app.chain.rpcUrl,
        chain_id: CHAIN_ID,
        usdc_address: app.chain.usdcAddress,
        funded_private_key: FUNDED.privateKey,
      },
    };
    return morning(place, { receiver: receiver.url });
  }

  newOperator(name: string, role: Role = 'administrator'): Promise<Operator> {
    return this.operator(role, name);
  }

  async disable({ id }: Operator): Promise<void> {
    await this.app.app.get(CommandBus).execute(new UpdateOperator(id, { status: 'disabled' }));
  }

  async close(): Promise<void> {
    await this.app.close();
    await Promise.all([this.node.stop(), this.receiver.stop()]);
  }
}
