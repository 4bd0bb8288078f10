import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DomainError } from '../../../../kernel/domain-error.js';
import { CONFIG, listenerUrl, type Config } from '../../../../platform/config/config.js';
import { PORTAL_PAGE } from '../../../../platform/http/admin/listeners.js';
import { PagesModule } from '../../../../platform/http/pages/pages.module.js';

/** Where people find the portal. */
@Injectable()
export class PortalAddress {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode' | 'portalUrl' | 'host' | 'portalPort'>,
    private readonly modules: ModuleRef,
  ) {}

  /** Throws `unavailable` where it has no address. */
  url(): string {
    const { mode, portalUrl, host, portalPort } = this.config;
    if (portalUrl !== null) return portalUrl;
    if (mode === 'production') throw new DomainError('unavailable', 'The portal has no address');
    return listenerUrl(
      host,
      this.modules.get(PagesModule, { strict: false }).portOf(PORTAL_PAGE) ?? portalPort,
    );
  }
}
