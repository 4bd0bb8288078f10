import { Global, Module } from '@nestjs/common';
import { PortalCallers } from '../../platform/http/admin/portal-controller.js';
import { PortalLinks } from './application/portal-links.js';
import {
  CreatePortalSessionHandler,
  EnterPortalHandler,
  RevokePortalSessionHandler,
} from './application/portal-session-commands.js';
import { PortalAddress } from './http/portal/portal-address.js';
import { PortalSite } from './http/page-site.js';
import { ActivePortalSessions } from './application/active-portal-sessions.js';
import { PortalAuthentication } from './http/portal/portal-authentication.js';
import { PortalOverviewController } from './http/portal/overview.controller.js';
import { PortalPageController } from './http/portal/page.controller.js';
import { PortalSessionsController } from './http/portal-sessions.controller.js';
import { PortalUses } from './store/portal-uses.js';
import { MerchantList } from './views/merchant-list.js';
import { PortalSessionsView } from './views/portal-sessions.js';

/** Sessions of the merchants' portal (docs/adr/0179); the data is in the controllers of each context. */
@Global()
@Module({
  controllers: [PortalSessionsController, PortalOverviewController, PortalPageController],
  providers: [
    CreatePortalSessionHandler,
    EnterPortalHandler,
    RevokePortalSessionHandler,
    PortalLinks,
    ActivePortalSessions,
    PortalAddress,
    PortalSessionsView,
    MerchantList,
    PortalUses,
    PortalSite,
    PortalAuthentication,
    { provide: PortalCallers, useExisting: PortalAuthentication },
  ],
  exports: [PortalCallers, MerchantList],
})
export class PortalModule {}
