import { start } from '../kit/app.js';
import { App } from './app.js';

start(App);
