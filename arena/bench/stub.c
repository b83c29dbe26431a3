/* A bot of C speed: answers every turn with the first legal ply of each figure.
 *
 * It reads only what it needs (`type`, `id`, `legal`), so that a measurement with it shows the
 * referee's cost and not the bot's. Built by `arena bench` with the machine's own C compiler.
 *
 *   stub         plays London on either side
 *   stub SECONDS the same, but busy for so long in each turn
 *   stub SECONDS asleep   the same, but asleep for so long
 *   stub SECONDS working  the same, but busy for so long of its own CPU time
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE 1048576
#define FIGURES 16

static char in[LINE];
static char out[65536];
static double busy_s;
static int asleep;
static clockid_t clock_id = CLOCK_MONOTONIC;

static void say(const char *text, size_t n) {
    while (n > 0) {
        ssize_t done = write(1, text, n);
        if (done <= 0) exit(1);
        text += done;
        n -= (size_t)done;
    }
}

static void think(void) {
    struct timespec start, now;
    if (busy_s <= 0) return;
    if (asleep) {
        now.tv_sec = (time_t)busy_s;
        now.tv_nsec = (long)((busy_s - (double)now.tv_sec) * 1e9);
        nanosleep(&now, NULL);
        return;
    }
    clock_gettime(clock_id, &start);
    do {
        clock_gettime(clock_id, &now);
    } while ((double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec) < busy_s);
}

/* The text of a string member, found by its key with quotes and colon; its length through `n`. */
static const char *member(const char *line, const char *key, size_t *n) {
    const char *at = strstr(line, key);
    const char *end;
    if (at == NULL) return NULL;
    at += strlen(key);
    end = strchr(at, '"');
    if (end == NULL) return NULL;
    *n = (size_t)(end - at);
    return at;
}

/* One ply a figure, none of them to a station that an earlier one of this answer goes to. */
static void choose(const char *legal, char *to) {
    char last[8] = "";
    int stations[FIGURES];
    const char *start = to, *at = legal;
    int chosen = 0, placed = 0;
    while (*at == '{' && chosen < FIGURES) {
        const char *end = strchr(at, '}');
        size_t n = 0;
        const char *figure = member(at, "\"figure\":\"", &n);
        int station = atoi(strstr(at, "\"to\":") + 5), taken = 0, i;
        if (n > 7) n = 7;
        if (strlen(last) != n || strncmp(last, figure, n) != 0) {
            memcpy(last, figure, n);
            last[n] = 0;
            placed = 0;
        }
        for (i = 0; i < chosen; i++) taken |= stations[i] == station;
        if (!placed && !taken) {
            if (to != start) *to++ = ',';
            memcpy(to, at, (size_t)(end - at) + 1);
            to += end - at + 1;
            stations[chosen++] = station;
            placed = 1;
        }
        at = end + 1;
        if (*at == ',') at++;
    }
    *to = 0;
}

static void answer(const char *line) {
    size_t n = 0;
    const char *id = member(line, "\"id\":\"", &n);
    int length;
    if (strstr(line, "\"type\":\"turn\"") != NULL) {
        static char plies[32768];
        const char *legal = strstr(line, "\"legal\":[");
        /* A team asks again for those left out; when nobody is, the turn ends all the same. */
        int more = legal != NULL && legal[9] == '{' && strncmp(legal + 10, "\"figure\":\"x\"", 12) != 0;
        plies[0] = 0;
        if (legal != NULL) choose(legal + 9, plies);
        if (strstr(line, "\"part\":1,") != NULL) think();
        length = snprintf(out, sizeof out, "{\"type\":\"play\",\"id\":\"%.*s\",\"plies\":[%s]%s}\n", (int)n, id,
                          plies, more ? ",\"more\":true" : "");
    } else if (strstr(line, "\"type\":\"deal\"") != NULL) {
        length = snprintf(out, sizeof out, "{\"type\":\"ready\",\"id\":\"%.*s\"}\n", (int)n, id);
    } else if (strstr(line, "\"type\":\"hello\"") != NULL) {
        length = snprintf(out, sizeof out,
                          "{\"type\":\"hello\",\"id\":\"%.*s\",\"protocol\":1,\"name\":\"stub\",\"version\":\"1\","
                          "\"rulesets\":[\"london-2013\",\"london-classic\",\"london-coursework\"],"
                          "\"wants\":[\"legal\"],\"features\":[\"reuse\"]}\n",
                          (int)n, id);
    } else if (strstr(line, "\"type\":\"bye\"") != NULL) {
        exit(0);
    } else {
        return;
    }
    say(out, (size_t)length);
}

int main(int argc, char **argv) {
    size_t have = 0;
    if (argc > 1) busy_s = atof(argv[1]);
    asleep = argc > 2 && strcmp(argv[2], "asleep") == 0;
    if (argc > 2 && !asleep) clock_id = CLOCK_PROCESS_CPUTIME_ID;
    for (;;) {
        ssize_t got = read(0, in + have, sizeof in - 1 - have);
        char *line = in, *end;
        if (got <= 0) return 0;
        have += (size_t)got;
        in[have] = 0;
        while ((end = memchr(line, '\n', have - (size_t)(line - in))) != NULL) {
            *end = 0;
            answer(line);
            line = end + 1;
        }
        have -= (size_t)(line - in);
        memmove(in, line, have);
        if (have == sizeof in - 1) return 1;
    }
}
