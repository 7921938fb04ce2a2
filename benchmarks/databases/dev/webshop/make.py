"""A shop on the web: camelCase, one table for one thing, moments with a time of day, categories within categories."""

from datetime import date, datetime, time, timedelta

from benchmarks.databases.draw import Draw

SCHEMA = """
CREATE TABLE employee (employeeId INTEGER PRIMARY KEY, firstName VARCHAR(40), lastName VARCHAR(40),
    jobTitle VARCHAR(40), reportsTo INTEGER REFERENCES employee (employeeId), hireDate DATE, officeCity VARCHAR(40));
CREATE TABLE customer (customerId INTEGER PRIMARY KEY, firstName VARCHAR(40), lastName VARCHAR(40), email VARCHAR(80),
    phone VARCHAR(30), city VARCHAR(40), country VARCHAR(40), signedUpAt DATETIME, loyaltyTier VARCHAR(10),
    newsletter BOOLEAN);
CREATE TABLE supplier (supplierId INTEGER PRIMARY KEY, supplierName VARCHAR(60), contactPerson VARCHAR(60),
    city VARCHAR(40), country VARCHAR(40), leadTimeDays INTEGER);
CREATE TABLE category (categoryId INTEGER PRIMARY KEY, categoryName VARCHAR(40),
    parentCategoryId INTEGER REFERENCES category (categoryId));
CREATE TABLE product (productId INTEGER PRIMARY KEY, productCode VARCHAR(10) UNIQUE, productName VARCHAR(80),
    brand VARCHAR(40), categoryId INTEGER REFERENCES category (categoryId),
    supplierId INTEGER REFERENCES supplier (supplierId), price DECIMAL(8, 2), costPrice DECIMAL(8, 2),
    unitsInStock INTEGER, weightGrams INTEGER, launchedOn DATE, isDiscontinued BOOLEAN);
CREATE TABLE shippingMethod (shippingMethodId INTEGER PRIMARY KEY, methodName VARCHAR(30), fee DECIMAL(6, 2),
    maxDays INTEGER);
CREATE TABLE coupon (couponId INTEGER PRIMARY KEY, couponCode VARCHAR(20) UNIQUE, percentOff INTEGER, validFrom DATE,
    validUntil DATE);
CREATE TABLE customerOrder (orderId INTEGER PRIMARY KEY, orderNumber CHAR(7) UNIQUE,
    customerId INTEGER NOT NULL REFERENCES customer (customerId), orderedAt DATETIME, shippedAt DATETIME,
    deliveredAt DATETIME, orderStatus VARCHAR(12), shippingMethodId INTEGER
    REFERENCES shippingMethod (shippingMethodId), shipCity VARCHAR(40), shipCountry VARCHAR(40),
    couponId INTEGER REFERENCES coupon (couponId), handledBy INTEGER REFERENCES employee (employeeId));
CREATE TABLE orderItem (orderItemId INTEGER PRIMARY KEY,
    orderId INTEGER NOT NULL REFERENCES customerOrder (orderId),
    productId INTEGER NOT NULL REFERENCES product (productId), quantity INTEGER, unitPrice DECIMAL(8, 2));
CREATE TABLE payment (paymentId INTEGER PRIMARY KEY, orderId INTEGER NOT NULL REFERENCES customerOrder (orderId),
    paidAt DATETIME, amount DECIMAL(10, 2), paymentMethod VARCHAR(20));
CREATE TABLE productReview (reviewId INTEGER PRIMARY KEY, productId INTEGER NOT NULL REFERENCES product (productId),
    customerId INTEGER NOT NULL REFERENCES customer (customerId), stars INTEGER, reviewText TEXT, postedAt DATETIME);
CREATE TABLE productReturn (returnId INTEGER PRIMARY KEY,
    orderItemId INTEGER NOT NULL REFERENCES orderItem (orderItemId), returnedAt DATETIME, reason VARCHAR(40),
    refundAmount DECIMAL(8, 2));
"""

EMPLOYEES = [
    (1, "Ottilie", "Brandauer", "CEO", None, "2015-02-01", "Vienna"),
    (2, "Luca", "Santoro", "Head of Customer Service", 1, "2016-05-17", "Vienna"),
    (3, "Mirela", "Popescu", "Service Agent", 2, "2018-10-01", "Bucharest"),
    (4, "Jakub", "Novotny", "Service Agent", 2, "2020-03-16", "Prague"),
    (5, "Hanne", "Sorensen", "Service Agent", 2, "2022-08-22", "Vienna"),
    (6, "Dimitar", "Kolev", "Purchasing Manager", 1, "2017-01-09", "Vienna"),
    (7, "Clara", "Weiss", "Buyer", 6, "2019-11-04", "Vienna"),
    (8, "Emre", "Aydin", "Buyer", 6, "2023-06-12", "Prague"),
    (9, "Ruth", "Okonjo", "Accountant", 1, "2016-09-26", "Vienna"),
    (10, "Tadeas", "Marek", "Service Agent", 2, "2025-04-07", "Prague"),
]
SUPPLIERS = [
    (1, "Alpenstahl", "Gerhard Moser", "Graz", "Austria", 6),
    (2, "Terra Cotta Fratelli", "Giulia Conti", "Siena", "Italy", 14),
    (3, "Nordlys Design", "Ingrid Dahl", "Bergen", "Norway", 12),
    (4, "Moulin Vert", "Bastien Leroy", "Nantes", "France", 9),
    (5, "Kyoto Blades", "Haruto Mori", "Kyoto", "Japan", 35),
    (6, "Bohemia Glas", None, "Prague", "Czechia", 5),
    (7, "Green Thumb Trading", "Sally Hobbs", "Bristol", "United Kingdom", 11),
    (8, "Lisbon Cork Works", "Joana Reis", "Lisbon", "Portugal", 18),
]
CATEGORIES = [
    (1, "Kitchen", None),
    (2, "Garden", None),
    (3, "Living", None),
    (4, "Knives", 1),
    (5, "Cookware", 1),
    (6, "Coffee & Tea", 1),
    (7, "Garden Tools", 2),
    (8, "Planters", 2),
    (9, "Lamps", 3),
    (10, "Blankets", 3),
    (11, "Glassware", 1),
    (12, "Outdoor Furniture", 2),
]
PRODUCTS = [
    ("Santoku 17 cm", "Hibana", 4, 5, 119.0, 240, "2019-04-02"),
    ("Bread Knife Oak", "Alpenstahl", 4, 1, 54.9, 310, "2018-02-15"),
    ("Paring Knife", "Alpenstahl", 4, 1, 22.5, 90, "2018-02-15"),
    ("Nakiri Damascus", "Hibana", 4, 5, 189.0, 260, "2022-11-01"),
    ("Iron Skillet 28", "Alpenstahl", 5, 1, 64.0, 2350, "2019-09-20"),
    ("Copper Saucepan", "Maison Verte", 5, 4, 139.9, 1480, "2021-03-08"),
    ("Tagine", "Cotto", 5, 2, 72.0, 3100, "2020-10-12"),
    ("Stockpot 10 L", "Alpenstahl", 5, 1, 98.5, 2900, "2023-01-17"),
    ("Pour-Over Set", "Nordlys", 6, 3, 46.0, 720, "2020-05-05"),
    ("Espresso Cups (4)", "Bohemia", 6, 6, 31.5, 640, "2021-08-30"),
    ("Cast Iron Teapot", "Hibana", 6, 5, 84.0, 1350, "2022-02-22"),
    ("Moka Pot", "Cotto", 6, 2, 29.9, 590, "2019-06-11"),
    ("Hand Trowel", "Green Thumb", 7, 7, 14.9, 280, "2019-03-01"),
    ("Pruning Shears", "Green Thumb", 7, 7, 38.0, 250, "2019-03-01"),
    ("Watering Can 5 L", "Green Thumb", 7, 7, 27.5, 1100, "2020-03-15"),
    ("Terracotta Pot 30", "Cotto", 8, 2, 18.9, 4200, "2018-05-20"),
    ("Terracotta Pot 45", "Cotto", 8, 2, 34.5, 9100, "2018-05-20"),
    ("Cork Planter", "Sobreiro", 8, 8, 42.0, 880, "2023-04-18"),
    ("Paper Lantern", "Nordlys", 9, 3, 25.0, 340, "2021-10-04"),
    ("Reading Lamp Fjell", "Nordlys", 9, 3, 129.0, 2150, "2022-09-09"),
    ("Cork Table Lamp", "Sobreiro", 9, 8, 88.0, 1260, "2024-02-01"),
    ("Wool Throw", "Nordlys", 10, 3, 94.0, 1150, "2020-11-02"),
    ("Cotton Throw", "Maison Verte", 10, 4, 49.5, 900, "2021-04-26"),
    ("Wine Glass Set (6)", "Bohemia", 11, 6, 57.0, 1500, "2019-11-18"),
    ("Water Carafe", "Bohemia", 11, 6, 26.9, 830, "2020-01-27"),
    ("Beer Mug", "Bohemia", 11, 6, 12.5, 610, "2024-05-13"),
    ("Folding Chair", "Maison Verte", 12, 4, 79.0, 4300, "2023-03-21"),
    ("Bistro Table", "Maison Verte", 12, 4, 149.0, 9800, "2023-03-21"),
    ("Hammock", "Sobreiro", 12, 8, 110.0, 2700, "2025-05-06"),
    ("Fire Bowl", "Alpenstahl", 12, 1, 165.0, 12400, "2025-11-20"),
]
METHODS = [(1, "Standard", 4.9, 6), (2, "Express", 12.9, 2), (3, "Pickup Point", 2.9, 7), (4, "Bike Courier", 8.5, 1)]
COUPONS = [
    (1, "WELCOME10", 10, "2023-01-01", "2025-12-31"),
    (2, "SPRING15", 15, "2024-03-01", "2024-04-30"),
    (3, "BLACKFRIDAY", 25, "2024-11-25", "2024-12-02"),
    (4, "SUMMER5", 5, "2025-06-01", "2025-08-31"),
    (5, "FRIENDS20", 20, "2025-10-01", "2026-03-31"),
]
CUSTOMERS = [
    ("Agnes", "Hofbauer", "Vienna", "Austria", "gold"),
    ("Pierre", "Delacroix", "Lyon", "France", "silver"),
    ("Siobhan", "Keane", "Galway", "Ireland", "gold"),
    ("Marek", "Zelenka", "Brno", "Czechia", None),
    ("Björn", "Lindholm", "Malmö", "Sweden", "bronze"),
    ("Francesca", "D'Angelo", "Bologna", "Italy", "silver"),
    ("Greta", "Vienna", "Hamburg", "Germany", "bronze"),
    ("Tiago", "Monteiro", "Porto", "Portugal", None),
]
FIRST = [
    *("Anna", "Bruno", "Celia", "David", "Eva", "Franz", "Gilda", "Henrik", "Irina", "Jonas", "Katka"),
    *("Lotte", "Milos", "Nora", "Olaf", "Paula", "Rosa", "Stefan", "Teresa", "Ugo", "Vera", "Willem"),
]
LAST = [
    *("Adler", "Berger", "Cerny", "Duarte", "Ebner", "Fiala", "Gruber", "Huber", "Ivanov", "Jelinek", "Koller"),
    *("Laurent", "Meyer", "Nagy", "Olsen", "Pichler", "Rossi", "Steiner", "Toth", "Urban", "Vogel", "Winter"),
]
PLACES = [
    *[("Vienna", "Austria")] * 5,
    *[("Graz", "Austria"), ("Linz", "Austria"), ("Munich", "Germany"), ("Munich", "Germany"), ("Berlin", "Germany")],
    *[("Hamburg", "Germany"), ("Prague", "Czechia"), ("Prague", "Czechia"), ("Brno", "Czechia"), ("Lyon", "France")],
    *[("Paris", "France"), ("Milan", "Italy"), ("Bologna", "Italy"), ("Budapest", "Hungary"), ("Oslo", "Norway")],
]
REASONS = ["damaged", "wrong item", "changed mind", "changed mind", "too small", "not as described"]
WORDS = {
    1: ["Broke after a week.", "Never again.", None],
    2: ["Smaller than in the picture.", "Meh.", None],
    3: ["Does what it should.", "Okay for the price.", None],
    4: ["Very nice, slow delivery.", "Good quality.", None],
    5: ["Love it!", "Best present ever.", "Beautiful.", None],
}


def tables() -> dict[str, list[tuple]]:
    """The rows of every table."""
    draw = Draw(2204)
    customers = _customers(draw)
    products = _products(draw)
    orders = _orders(draw, customers)
    items = _items(draw, orders, products)
    return {
        "employee": EMPLOYEES,
        "customer": customers,
        "supplier": SUPPLIERS,
        "category": CATEGORIES,
        "product": products,
        "shippingMethod": METHODS,
        "coupon": COUPONS,
        "customerOrder": orders,
        "orderItem": items,
        "payment": _payments(draw, orders, items),
        "productReview": _reviews(draw, orders, items),
        "productReturn": _returns(draw, orders, items),
    }


def _moment(draw: Draw, day: date, *, first: int = 7, last: int = 22) -> datetime:
    return datetime.combine(day, time(draw.number(first, last), draw.number(0, 59), draw.number(0, 59)))


def _customers(draw: Draw) -> list[tuple]:
    rows: list[tuple] = []
    drawn = draw.some([(first, last) for first in FIRST for last in LAST], count=140)
    for number in range(1, 141):
        if number <= len(CUSTOMERS):
            first, last, city, country, tier = CUSTOMERS[number - 1]
        else:
            (first, last), (city, country) = drawn[number - 1], draw.one(PLACES)
            tier = draw.one(["bronze", "bronze", "silver", "gold", None, None, None])
        name = f"{first}.{last}".lower().replace("'", "").replace("ö", "oe")
        phone = f"+43 555 {number:04}" if draw.chance(0.7) else None
        joined = _moment(draw, draw.day("2022-01-10", "2022-12-30" if number < 40 else "2025-12-18"))
        rows.append(
            (
                number,
                first,
                last,
                f"{name}{number}@mail.example",
                phone,
                city,
                country,
                str(joined),
                tier,
                int(draw.chance(0.4)),
            )
        )
    return rows


def _products(draw: Draw) -> list[tuple]:
    rows = []
    for number, (name, brand, category, supplier, price, weight, launched) in enumerate(PRODUCTS, 1):
        code = f"{brand[:2].upper()}-{100 + 7 * number}"
        cost = round(price * draw.number(41, 68) / 100, 2)
        gone = name in ("Cotton Throw", "Tagine", "Paper Lantern")
        stock = 0 if gone or draw.chance(0.1) else draw.number(3, 240)
        rows.append((number, code, name, brand, category, supplier, price, cost, stock, weight, launched, int(gone)))
    return rows


def _orders(draw: Draw, customers: list[tuple]) -> list[tuple]:
    rows: list[tuple] = []
    days = [draw.day("2023-01-03", "2025-12-18") for _ in range(600)] + [
        draw.day("2025-12-10", "2025-12-30") for _ in range(40)
    ]
    for moment in sorted(_moment(draw, day) for day in days):
        known = [each for each in customers[:132] if each[7] < str(moment)]
        customer = draw.skewed(known)
        status = draw.one(["delivered"] * 14 + ["cancelled"] + ["returned"])
        if moment > datetime(2025, 12, 19):
            status = draw.one(["pending", "shipped", "shipped", "cancelled"])
        shipped = None if status in ("pending", "cancelled") else moment + timedelta(hours=draw.number(5, 90))
        arrived = None if status == "shipped" or not shipped else shipped + timedelta(hours=draw.number(20, 170))
        coupon = next((each[0] for each in COUPONS[1:] if each[3] <= str(moment.date()) <= each[4]), 1)
        elsewhere = draw.one(PLACES) if draw.chance(0.08) else (customer[5], customer[6])
        rows.append(
            (
                len(rows) + 1,
                f"WS{20100 + len(rows)}",
                customer[0],
                str(moment),
                str(shipped) if shipped else None,
                str(arrived) if arrived else None,
                status,
                draw.one([1, 1, 1, 1, 2, 3, 3]),
                *elsewhere,
                coupon if draw.chance(0.15) else None,
                draw.one([3, 3, 4, 4, 4, 5, 5, 10 if moment > datetime(2025, 4, 7) else 3]) if shipped else None,
            )
        )
    return rows


def _items(draw: Draw, orders: list[tuple], products: list[tuple]) -> list[tuple]:
    rows: list[tuple] = []
    for order in orders:
        there = [each for each in products[:29] if each[10] <= order[3]]
        for product in draw.some(there, count=draw.one([1, 1, 2, 2, 3, 4])):
            many = draw.one([1, 1, 1, 2, 2, 4, 6]) if product[6] < 60 else draw.one([1, 1, 1, 2])
            older = round(product[6] * 0.9, 2) if order[3] < "2024-01-01" else product[6]
            rows.append((len(rows) + 1, order[0], product[0], many, older))
    return rows


def _payments(draw: Draw, orders: list[tuple], items: list[tuple]) -> list[tuple]:
    rows: list[tuple] = []
    for order in orders:
        if order[6] in ("cancelled", "pending"):
            continue
        goods = sum(each[3] * each[4] for each in items if each[1] == order[0])
        off = COUPONS[order[10] - 1][2] if order[10] else 0
        amount = round(goods * (100 - off) / 100 + METHODS[order[7] - 1][2], 2)
        paid = datetime.fromisoformat(order[3]) + timedelta(minutes=draw.number(1, 300))
        how = draw.one(["card", "card", "card", "paypal", "paypal", "bank transfer", "gift card"])
        rows.append((len(rows) + 1, order[0], str(paid), amount, how))
    return rows


def _reviews(draw: Draw, orders: list[tuple], items: list[tuple]) -> list[tuple]:
    rows: list[tuple] = []
    for item in items:
        order = orders[item[1] - 1]
        if order[5] and draw.chance(0.22):
            stars = draw.one([1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5])
            moment = datetime.fromisoformat(order[5]) + timedelta(hours=draw.number(10, 500))
            if moment < datetime(2026, 1, 1):
                rows.append((len(rows) + 1, item[2], order[2], stars, draw.one(WORDS[stars]), str(moment)))
    return rows


def _returns(draw: Draw, orders: list[tuple], items: list[tuple]) -> list[tuple]:
    rows: list[tuple] = []
    for item in items:
        order = orders[item[1] - 1]
        if order[6] == "returned" or order[6] == "delivered" and draw.chance(0.02):
            moment = datetime.fromisoformat(order[5]) + timedelta(hours=draw.number(20, 300))
            refund = round(item[3] * item[4] * draw.one([1, 1, 1, 0.5]), 2)
            rows.append((len(rows) + 1, item[0], str(moment), draw.one(REASONS), refund))
    return rows
