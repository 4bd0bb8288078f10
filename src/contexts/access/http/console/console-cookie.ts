import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { PageCookies } from '../page-cookies.js';

@Injectable()
export class ConsoleCookies extends PageCookies {
  constructor(@Inject(CONFIG) { mode, adminUrl }: Pick<Config, 'mode' | 'adminUrl'>) {
    super('console', mode, adminUrl);
  }
}
